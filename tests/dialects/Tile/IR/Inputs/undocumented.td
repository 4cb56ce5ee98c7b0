include "mlir/IR/OpBase.td"
include "mlir/Pass/PassBase.td"

def Bare_Dialect : Dialect {
  let name = "bare";
  let cppNamespace = "::bare";
}

def Bare_SilentOp : Op<Bare_Dialect, "silent"> {
  let arguments = (ins I32:$value, I32Attr:$axis);
}

def Bare_LongOp : Op<Bare_Dialect, "long"> {
  let summary = "a summary that goes on and on until nobody wants to read it any more.";
  let description = "Words, but no example.";
}

def Bare_ReferringOp : Op<Bare_Dialect, "referring"> {
  let summary = "an example elsewhere";
  let description = "Example: see `bare.shown`.";
}

def Bare_LostOp : Op<Bare_Dialect, "lost"> {
  let summary = "an example elsewhere that does not have it";
  let description = "Example: see `bare.shown`.";
}

def Bare_ShownOp : Op<Bare_Dialect, "shown"> {
  let summary = "an example";
  let description = [{
    Of two operations:

    ```mlir
    // A comment, as the tests compile every example: bare.shown,
    // bare.referring.
    ```
  }];
}

def BareSilentPass : Pass<"bare-silent">;
