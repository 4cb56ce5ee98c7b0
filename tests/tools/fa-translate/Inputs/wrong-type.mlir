tile.kernel @wrong(%n: i32) grid(n) -> (1) {
  %x = tile.arange 0 to 4 : tensor<4xi32>
  %y = arith.addf %x, %x : tensor<4xi32>
  tile.return
}
