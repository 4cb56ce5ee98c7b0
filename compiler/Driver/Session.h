//===- Session.h - One compilation: context, diagnostics, times -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a single run of the compiler carries: its own MLIRContext, the
// diagnostics it collected, and the time that each stage took.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_SESSION_H
#define FLASHTILE_COMPILER_DRIVER_SESSION_H

#include "compiler/Driver/Compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <chrono>

namespace flashtile {

class Session {
public:
  Session(std::string_view fileName, const CompilerOptions &options,
          CompileReport &report);
  ~Session();

  mlir::MLIRContext &context() { return mlirContext; }

  /// Parses and verifies. Null after a diagnostic.
  mlir::OwningOpRef<mlir::ModuleOp> parse(std::string_view text);

  /// Runs passes as a stage of this name, with the dump and the time of it.
  mlir::LogicalResult
  run(mlir::ModuleOp module, llvm::StringRef stage,
      llvm::function_ref<void(mlir::OpPassManager &)> build);

  /// Times `body` as a stage.
  void time(llvm::StringRef stage, llvm::function_ref<void()> body);

  /// Writes `text` as the next numbered file of the dump folder.
  void dump(llvm::StringRef stage, llvm::StringRef extension,
            llvm::function_ref<void(llvm::raw_ostream &)> print);

  /// Errors and their notes so far, one per line.
  std::string takeErrors();

private:
  void record(mlir::Diagnostic &diagnostic);

  std::string fileName;
  const CompilerOptions &options;
  CompileReport &report;
  mlir::MLIRContext mlirContext;
  mlir::DiagnosticEngine::HandlerID handler;
  std::string errors;
  unsigned dumps = 0;
  bool dumpFailed = false;
};

/// An expression whose inputs, dimensions before symbols, are the kernel's
/// integer arguments.
GridExpr expressionOf(mlir::AffineExpr expression, unsigned numDimensions);

/// Arguments and grid of a kernel.
KernelInfo describeKernel(mlir::Operation *kernel);

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_SESSION_H
