// What kernels do not consist of, on every target.
//
// RUN: fa-opt %s --convert-tile-to-cpu --split-input-file --verify-diagnostics
// RUN: fa-opt %s --tile-to-nvvm=target=sm_80 --split-input-file --verify-diagnostics

tile.kernel @switch(%x: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %i = arith.index_cast %n : i32 to index
  // expected-error@+1 {{'scf.index_switch' op is not supported: kernels consist of operations of tile, arith and math, scf.for, scf.while and scf.if}}
  scf.index_switch %i
  case 2 {
    %f = arith.constant 1.0 : f32
    tile.store %x, %f : !tile.ptr<f32>
    scf.yield
  }
  default {
    scf.yield
  }
  tile.return
}

// -----

tile.kernel @threads(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error@+1 {{'scf.forall' op is not supported: kernels consist of operations of tile, arith and math, scf.for, scf.while and scf.if}}
  scf.forall (%i) in (4) {
    %f = arith.constant 1.0 : f32
    tile.store %x, %f : !tile.ptr<f32>
  }
  tile.return
}

// -----

func.func private @g()
tile.kernel @calls(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error@+1 {{'func.call' op is not supported: kernels consist of operations of tile, arith and math, scf.for, scf.while and scf.if}}
  func.call @g() : () -> ()
  tile.return
}
