// RUN: fa-opt %s | fa-opt | FileCheck %s
// RUN: fa-opt %s --mlir-print-op-generic | fa-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @exp
tile.kernel @exp(%x: f32, %y: f64) grid() -> (1) {
  // CHECK: tile.exp %x : f32
  %0 = tile.exp %x : f32
  // CHECK: tile.exp %y fastmath<fast> : f64
  %1 = tile.exp %y fastmath<fast> : f64
  %t = tile.splat %x : f32 -> tensor<2x3x5x7xf32>
  // CHECK: tile.exp %{{.*}} fastmath<nnan,afn> : tensor<2x3x5x7xf32>
  %2 = tile.exp %t fastmath<nnan,afn> : tensor<2x3x5x7xf32>
  %h = tile.full 1.0 : bf16 -> tensor<3x5xbf16>
  // CHECK: tile.exp %{{.*}} {test.note} : tensor<3x5xbf16>
  %3 = tile.exp %h {test.note} : tensor<3x5xbf16>
  %g = tile.full 1.0 : f16 -> tensor<7xf16>
  // CHECK: tile.exp %{{.*}} : tensor<7xf16>
  %4 = tile.exp %g fastmath<none> : tensor<7xf16>
  tile.return
}

// CHECK-LABEL: tile.kernel @exp2
tile.kernel @exp2(%x: f32, %y: f64) grid() -> (1) {
  // CHECK: tile.exp2 %x : f32
  %0 = tile.exp2 %x : f32
  // CHECK: tile.exp2 %y fastmath<fast> : f64
  %1 = tile.exp2 %y fastmath<fast> : f64
  %t = tile.splat %x : f32 -> tensor<2x3x5x7xf32>
  // CHECK: tile.exp2 %{{.*}} fastmath<nnan,afn> : tensor<2x3x5x7xf32>
  %2 = tile.exp2 %t fastmath<nnan,afn> : tensor<2x3x5x7xf32>
  %h = tile.full 1.0 : bf16 -> tensor<3x5xbf16>
  // CHECK: tile.exp2 %{{.*}} {test.note} : tensor<3x5xbf16>
  %3 = tile.exp2 %h {test.note} : tensor<3x5xbf16>
  %g = tile.full 1.0 : f16 -> tensor<7xf16>
  // CHECK: tile.exp2 %{{.*}} : tensor<7xf16>
  %4 = tile.exp2 %g fastmath<none> : tensor<7xf16>
  tile.return
}

// CHECK-LABEL: tile.kernel @log
tile.kernel @log(%x: f32, %y: f64) grid() -> (1) {
  // CHECK: tile.log %x : f32
  %0 = tile.log %x : f32
  // CHECK: tile.log %y fastmath<fast> : f64
  %1 = tile.log %y fastmath<fast> : f64
  %t = tile.splat %x : f32 -> tensor<2x3x5x7xf32>
  // CHECK: tile.log %{{.*}} fastmath<nnan,afn> : tensor<2x3x5x7xf32>
  %2 = tile.log %t fastmath<nnan,afn> : tensor<2x3x5x7xf32>
  %h = tile.full 1.0 : bf16 -> tensor<3x5xbf16>
  // CHECK: tile.log %{{.*}} {test.note} : tensor<3x5xbf16>
  %3 = tile.log %h {test.note} : tensor<3x5xbf16>
  %g = tile.full 1.0 : f16 -> tensor<7xf16>
  // CHECK: tile.log %{{.*}} : tensor<7xf16>
  %4 = tile.log %g fastmath<none> : tensor<7xf16>
  tile.return
}

// CHECK-LABEL: tile.kernel @log2
tile.kernel @log2(%x: f32, %y: f64) grid() -> (1) {
  // CHECK: tile.log2 %x : f32
  %0 = tile.log2 %x : f32
  // CHECK: tile.log2 %y fastmath<fast> : f64
  %1 = tile.log2 %y fastmath<fast> : f64
  %t = tile.splat %x : f32 -> tensor<2x3x5x7xf32>
  // CHECK: tile.log2 %{{.*}} fastmath<nnan,afn> : tensor<2x3x5x7xf32>
  %2 = tile.log2 %t fastmath<nnan,afn> : tensor<2x3x5x7xf32>
  %h = tile.full 1.0 : bf16 -> tensor<3x5xbf16>
  // CHECK: tile.log2 %{{.*}} {test.note} : tensor<3x5xbf16>
  %3 = tile.log2 %h {test.note} : tensor<3x5xbf16>
  %g = tile.full 1.0 : f16 -> tensor<7xf16>
  // CHECK: tile.log2 %{{.*}} : tensor<7xf16>
  %4 = tile.log2 %g fastmath<none> : tensor<7xf16>
  tile.return
}

// Every float type converts to every other.
// CHECK-LABEL: tile.kernel @cast
tile.kernel @cast(%x: f32) grid() -> (1) {
  // CHECK: tile.cast %x : f32 -> f16
  %s = tile.cast %x : f32 -> f16
  %f64 = tile.full 1.0 : f64 -> tensor<3x5x7xf64>
  %f32 = tile.full 1.0 : f32 -> tensor<3x5x7xf32>
  %f16 = tile.full 1.0 : f16 -> tensor<3x5x7xf16>
  %bf16 = tile.full 1.0 : bf16 -> tensor<3x5x7xbf16>
  %f8E4M3FN = tile.full 1.0 : f8E4M3FN -> tensor<3x5x7xf8E4M3FN>
  %f8E5M2 = tile.full 1.0 : f8E5M2 -> tensor<3x5x7xf8E5M2>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf64> -> tensor<3x5x7xf64>
  %f64_f64 = tile.cast %f64 : tensor<3x5x7xf64> -> tensor<3x5x7xf64>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf64> -> tensor<3x5x7xf32>
  %f64_f32 = tile.cast %f64 : tensor<3x5x7xf64> -> tensor<3x5x7xf32>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf64> -> tensor<3x5x7xf16>
  %f64_f16 = tile.cast %f64 : tensor<3x5x7xf64> -> tensor<3x5x7xf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf64> -> tensor<3x5x7xbf16>
  %f64_bf16 = tile.cast %f64 : tensor<3x5x7xf64> -> tensor<3x5x7xbf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf64> -> tensor<3x5x7xf8E4M3FN>
  %f64_f8E4M3FN = tile.cast %f64 : tensor<3x5x7xf64> -> tensor<3x5x7xf8E4M3FN>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf64> -> tensor<3x5x7xf8E5M2>
  %f64_f8E5M2 = tile.cast %f64 : tensor<3x5x7xf64> -> tensor<3x5x7xf8E5M2>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf32> -> tensor<3x5x7xf64>
  %f32_f64 = tile.cast %f32 : tensor<3x5x7xf32> -> tensor<3x5x7xf64>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf32> -> tensor<3x5x7xf32>
  %f32_f32 = tile.cast %f32 : tensor<3x5x7xf32> -> tensor<3x5x7xf32>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf32> -> tensor<3x5x7xf16>
  %f32_f16 = tile.cast %f32 : tensor<3x5x7xf32> -> tensor<3x5x7xf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf32> -> tensor<3x5x7xbf16>
  %f32_bf16 = tile.cast %f32 : tensor<3x5x7xf32> -> tensor<3x5x7xbf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf32> -> tensor<3x5x7xf8E4M3FN>
  %f32_f8E4M3FN = tile.cast %f32 : tensor<3x5x7xf32> -> tensor<3x5x7xf8E4M3FN>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf32> -> tensor<3x5x7xf8E5M2>
  %f32_f8E5M2 = tile.cast %f32 : tensor<3x5x7xf32> -> tensor<3x5x7xf8E5M2>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf16> -> tensor<3x5x7xf64>
  %f16_f64 = tile.cast %f16 : tensor<3x5x7xf16> -> tensor<3x5x7xf64>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf16> -> tensor<3x5x7xf32>
  %f16_f32 = tile.cast %f16 : tensor<3x5x7xf16> -> tensor<3x5x7xf32>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf16> -> tensor<3x5x7xf16>
  %f16_f16 = tile.cast %f16 : tensor<3x5x7xf16> -> tensor<3x5x7xf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf16> -> tensor<3x5x7xbf16>
  %f16_bf16 = tile.cast %f16 : tensor<3x5x7xf16> -> tensor<3x5x7xbf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf16> -> tensor<3x5x7xf8E4M3FN>
  %f16_f8E4M3FN = tile.cast %f16 : tensor<3x5x7xf16> -> tensor<3x5x7xf8E4M3FN>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf16> -> tensor<3x5x7xf8E5M2>
  %f16_f8E5M2 = tile.cast %f16 : tensor<3x5x7xf16> -> tensor<3x5x7xf8E5M2>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xbf16> -> tensor<3x5x7xf64>
  %bf16_f64 = tile.cast %bf16 : tensor<3x5x7xbf16> -> tensor<3x5x7xf64>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xbf16> -> tensor<3x5x7xf32>
  %bf16_f32 = tile.cast %bf16 : tensor<3x5x7xbf16> -> tensor<3x5x7xf32>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xbf16> -> tensor<3x5x7xf16>
  %bf16_f16 = tile.cast %bf16 : tensor<3x5x7xbf16> -> tensor<3x5x7xf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xbf16> -> tensor<3x5x7xbf16>
  %bf16_bf16 = tile.cast %bf16 : tensor<3x5x7xbf16> -> tensor<3x5x7xbf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xbf16> -> tensor<3x5x7xf8E4M3FN>
  %bf16_f8E4M3FN = tile.cast %bf16 : tensor<3x5x7xbf16> -> tensor<3x5x7xf8E4M3FN>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xbf16> -> tensor<3x5x7xf8E5M2>
  %bf16_f8E5M2 = tile.cast %bf16 : tensor<3x5x7xbf16> -> tensor<3x5x7xf8E5M2>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xf64>
  %f8E4M3FN_f64 = tile.cast %f8E4M3FN : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xf64>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xf32>
  %f8E4M3FN_f32 = tile.cast %f8E4M3FN : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xf32>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xf16>
  %f8E4M3FN_f16 = tile.cast %f8E4M3FN : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xbf16>
  %f8E4M3FN_bf16 = tile.cast %f8E4M3FN : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xbf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xf8E4M3FN>
  %f8E4M3FN_f8E4M3FN = tile.cast %f8E4M3FN : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xf8E4M3FN>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xf8E5M2>
  %f8E4M3FN_f8E5M2 = tile.cast %f8E4M3FN : tensor<3x5x7xf8E4M3FN> -> tensor<3x5x7xf8E5M2>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xf64>
  %f8E5M2_f64 = tile.cast %f8E5M2 : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xf64>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xf32>
  %f8E5M2_f32 = tile.cast %f8E5M2 : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xf32>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xf16>
  %f8E5M2_f16 = tile.cast %f8E5M2 : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xbf16>
  %f8E5M2_bf16 = tile.cast %f8E5M2 : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xbf16>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xf8E4M3FN>
  %f8E5M2_f8E4M3FN = tile.cast %f8E5M2 : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xf8E4M3FN>
  // CHECK: tile.cast %{{.*}} : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xf8E5M2>
  %f8E5M2_f8E5M2 = tile.cast %f8E5M2 : tensor<3x5x7xf8E5M2> -> tensor<3x5x7xf8E5M2>
  tile.return
}
