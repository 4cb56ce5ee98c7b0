// Flash attention, forward, causal (bottom-right aligned), as an author writes
// it: the loop runs over all keys, lengths are arbitrary, one head. K and V
// windows are advanced along the loop.
tile.kernel @flash_attention_causal(
    %q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>,
    %o: !tile.ptr<bf16>, %lse: !tile.ptr<f32>,
    %seq_q: i32, %seq_k: i32, %softmax_scale: f32)
    grid(seq_q, seq_k) -> (seq_q ceildiv 64) {
  %scale = tile.assume %softmax_scale {min = 1.0e-30 : f32} : f32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %d = arith.constant 64 : i64
  %block = arith.constant 64 : i64
  %rows_q = arith.extsi %seq_q : i32 to i64
  %rows_k = arith.extsi %seq_k : i32 to i64
  %shift = arith.subi %seq_k, %seq_q : i32

  %pid = tile.program_id x
  %start = arith.muli %pid, %c64 : i32
  %start64 = arith.extsi %start : i32 to i64
  %lane = tile.arange 0 to 64 : tensor<64xi32>
  %start_tile = tile.splat %start : i32 -> tensor<64xi32>
  %row = arith.addi %start_tile, %lane : tensor<64xi32>
  %shift_tile = tile.splat %shift : i32 -> tensor<64xi32>
  %last = arith.addi %row, %shift_tile : tensor<64xi32>
  %last_column = tile.expand_dims %last axis 1 : tensor<64xi32> -> tensor<64x1xi32>
  %last_key = tile.broadcast %last_column : tensor<64x1xi32> -> tensor<64x64xi32>
  %keys = tile.splat %seq_k : i32 -> tensor<64x64xi32>

  %q_window = tile.make_block_ptr %q shape [%rows_q, %d] strides [%d, %one]
      offsets [%start64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %q_tile = tile.load %q_window : !tile.block_ptr<64x64xbf16>
  %k_window = tile.make_block_ptr %k shape [%rows_k, %d] strides [%d, %one]
      offsets [%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %v_window = tile.make_block_ptr %v shape [%rows_k, %d] strides [%d, %one]
      offsets [%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>

  %minus_infinity = tile.full 0xFF800000 : f32 -> tensor<64x64xf32>
  %m_init = tile.full 0xFF800000 : f32 -> tensor<64xf32>
  %zeros = tile.full 0.0 : f32 -> tensor<64xf32>
  %acc_init = tile.full 0.0 : f32 -> tensor<64x64xf32>
  %scale_tile = tile.splat %scale : f32 -> tensor<64x64xf32>

  %m_end, %l_end, %acc_end, %k_end, %v_end = scf.for %n = %c0 to %seq_k step %c64
      iter_args(%m = %m_init, %l = %zeros, %acc = %acc_init,
                %kp = %k_window, %vp = %v_window)
      -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>,
          !tile.block_ptr<64x64xbf16>, !tile.block_ptr<64x64xbf16>) : i32 {
    %k_tile = tile.load %kp : !tile.block_ptr<64x64xbf16>
    %v_tile = tile.load %vp : !tile.block_ptr<64x64xbf16>
    %kt = tile.trans %k_tile order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %qk = tile.dot %q_tile, %kt, %acc_init : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %scaled = arith.mulf %qk, %scale_tile : tensor<64x64xf32>

    %n_tile = tile.splat %n : i32 -> tensor<64xi32>
    %col = arith.addi %n_tile, %lane : tensor<64xi32>
    %col_row = tile.expand_dims %col axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %key = tile.broadcast %col_row : tensor<1x64xi32> -> tensor<64x64xi32>
    %exists = arith.cmpi slt, %key, %keys : tensor<64x64xi32>
    %past = arith.cmpi sle, %key, %last_key : tensor<64x64xi32>
    %visible = arith.andi %exists, %past : tensor<64x64xi1>
    %s = arith.select %visible, %scaled, %minus_infinity : tensor<64x64xi1>, tensor<64x64xf32>

    %seen = tile.max %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %m_new = arith.maximumf %m, %seen : tensor<64xf32>
    %empty = arith.cmpf oeq, %m_new, %m_init : tensor<64xf32>
    %ref = arith.select %empty, %zeros, %m_new : tensor<64xi1>, tensor<64xf32>
    %ref_column = tile.expand_dims %ref axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %ref_tile = tile.broadcast %ref_column : tensor<64x1xf32> -> tensor<64x64xf32>
    %distance = arith.subf %s, %ref_tile : tensor<64x64xf32>
    %p = tile.exp %distance fastmath<afn> : tensor<64x64xf32>
    %fall = arith.subf %m, %ref : tensor<64xf32>
    %alpha = tile.exp %fall fastmath<afn> : tensor<64xf32>

    %l_scaled = arith.mulf %l, %alpha : tensor<64xf32>
    %p_sum = tile.sum %p axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %l_new = arith.addf %l_scaled, %p_sum : tensor<64xf32>
    %alpha_column = tile.expand_dims %alpha axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %alpha_tile = tile.broadcast %alpha_column : tensor<64x1xf32> -> tensor<64x64xf32>
    %acc_scaled = arith.mulf %acc, %alpha_tile : tensor<64x64xf32>
    %p_low = tile.cast %p : tensor<64x64xf32> -> tensor<64x64xbf16>
    %acc_new = tile.dot %p_low, %v_tile, %acc_scaled : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %kp_new = tile.advance %kp, [%block, %zero] : !tile.block_ptr<64x64xbf16>
    %vp_new = tile.advance %vp, [%block, %zero] : !tile.block_ptr<64x64xbf16>
    scf.yield %m_new, %l_new, %acc_new, %kp_new, %vp_new
        : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>,
          !tile.block_ptr<64x64xbf16>, !tile.block_ptr<64x64xbf16>
  }

  %log = tile.log %l_end : tensor<64xf32>
  %lse_tile = arith.addf %m_end, %log : tensor<64xf32>
  %nothing = arith.cmpf oeq, %l_end, %zeros : tensor<64xf32>
  %ones = tile.full 1.0 : f32 -> tensor<64xf32>
  %divisor = arith.select %nothing, %ones, %l_end : tensor<64xi1>, tensor<64xf32>
  %divisor_column = tile.expand_dims %divisor axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %divisor_tile = tile.broadcast %divisor_column : tensor<64x1xf32> -> tensor<64x64xf32>
  %out = arith.divf %acc_end, %divisor_tile : tensor<64x64xf32>
  %out_low = tile.cast %out : tensor<64x64xf32> -> tensor<64x64xbf16>
  %o_window = tile.make_block_ptr %o shape [%rows_q, %d] strides [%d, %one]
      offsets [%start64, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %o_window, %out_low : !tile.block_ptr<64x64xbf16>
  %lse_window = tile.make_block_ptr %lse shape [%rows_q] strides [%one]
      offsets [%start64] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tile.store %lse_window, %lse_tile : !tile.block_ptr<64xf32>
  tile.return
}
