//===- flash_attention_forward.mlir - Attention, forward ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flash attention recurrence at 64 x 64 tiles, head dimension 64, bf16:
//
//   o_i = sum_j exp(S_ij - lse_i) v_j        lse_i = log sum_j exp(S_ij)
//
// with S = scale * q k^T on the positions that a row sees. q, k, v and o are
// [batch, head, row, 64] with any strides but the last, which is 1; lse is
// [batch, heads_q, seq_q], contiguous. FlashAttentionForward.cpp builds the same
// for any type, head dimension and tile; a test keeps the two equal.
//
// Two kernels: @flash_attention_forward, where every row sees every key, and
// @flash_attention_forward_causal.
//
//===----------------------------------------------------------------------===//

tile.kernel @flash_attention_forward(
    %q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<bf16>,
    %lse: !tile.ptr<f32>,
    %heads_q: i32, %heads_kv: i32, %seq_q: i32, %seq_k: i32, %batch: i32,
    %q_stride_batch: i64, %q_stride_head: i64, %q_stride_row: i64,
    %k_stride_batch: i64, %k_stride_head: i64, %k_stride_row: i64,
    %v_stride_batch: i64, %v_stride_head: i64, %v_stride_row: i64,
    %o_stride_batch: i64, %o_stride_head: i64, %o_stride_row: i64,
    %scale: f32)
    grid(heads_q, heads_kv, seq_q, seq_k, batch, qb, qh, qr, kb, kh, kr, vb, vh, vr, ob, oh, or)
    -> (seq_q ceildiv 64, heads_q, batch) {
  // Constants.
  %block = arith.constant 64 : i32
  %head_dim = arith.constant 64 : i64
  %one = arith.constant 1 : i64
  %zero_i64 = arith.constant 0 : i64
  %neg_inf_row = arith.constant dense<0xFF800000> : tensor<64xf32>
  %zero_row = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %zero_tile = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %zero = arith.constant 0 : i32
  %neg_inf = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %zero_column = arith.constant dense<0.000000e+00> : tensor<64x1xf32>
  %one_column = arith.constant dense<1.000000e+00> : tensor<64x1xf32>

  // This program: 64 rows of q of one head of one batch.
  %pid = tile.program_id x
  %row_start = arith.muli %pid, %block : i32
  %head = tile.program_id y

  // heads_q / heads_kv query heads share one head of keys and values.
  %group = arith.divsi %heads_q, %heads_kv : i32
  %kv_head_i32 = arith.divsi %head, %group : i32
  %kv_head = arith.extsi %kv_head_i32 : i32 to i64
  %head_i64 = arith.extsi %head : i32 to i64
  %batch_pid = tile.program_id z
  %batch_index = arith.extsi %batch_pid : i32 to i64
  %rows_q = arith.extsi %seq_q : i32 to i64
  %rows_k = arith.extsi %seq_k : i32 to i64

  // The tile of queries. Rows beyond the end read as 0.
  %q_batch = arith.muli %batch_index, %q_stride_batch : i64
  %q_of_batch = tile.addptr %q, %q_batch : !tile.ptr<bf16>, i64
  %q_head = arith.muli %head_i64, %q_stride_head : i64
  %q_of_head = tile.addptr %q_of_batch, %q_head : !tile.ptr<bf16>, i64
  %row_start_i64 = arith.extsi %row_start : i32 to i64
  %q_window = tile.make_block_ptr %q_of_head shape[%rows_q, %head_dim] strides[%q_stride_row, %one]
      offsets[%row_start_i64, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %q_tile = tile.load %q_window : !tile.block_ptr<64x64xbf16>

  // Windows over keys and values; the loop moves them.
  %k_batch = arith.muli %batch_index, %k_stride_batch : i64
  %k_of_batch = tile.addptr %k, %k_batch : !tile.ptr<bf16>, i64
  %k_head = arith.muli %kv_head, %k_stride_head : i64
  %k_of_head = tile.addptr %k_of_batch, %k_head : !tile.ptr<bf16>, i64
  %k_window = tile.make_block_ptr %k_of_head shape[%rows_k, %head_dim] strides[%k_stride_row, %one]
      offsets[%zero_i64, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %v_batch = arith.muli %batch_index, %v_stride_batch : i64
  %v_of_batch = tile.addptr %v, %v_batch : !tile.ptr<bf16>, i64
  %v_head = arith.muli %kv_head, %v_stride_head : i64
  %v_of_head = tile.addptr %v_of_batch, %v_head : !tile.ptr<bf16>, i64
  %v_window = tile.make_block_ptr %v_of_head shape[%rows_k, %head_dim] strides[%v_stride_row, %one]
      offsets[%zero_i64, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>

  // One tile of 64 keys at a time, with the running maximum m of the scores, the
  // sum l of their exponentials and the weighted sum acc of the values.
  %loop:3 = scf.for %start = %zero to %seq_k step %block
      iter_args(%m = %neg_inf_row, %l = %zero_row, %acc = %zero_tile)
      -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) : i32 {
    // Which of the 64 keys from %start take part, by row.
    %lane = tile.arange 0 to 64 : tensor<64xi32>
    %start_tile = tile.splat %start : i32 -> tensor<64xi32>
    %columns_flat = arith.addi %start_tile, %lane : tensor<64xi32>
    %columns = tile.expand_dims %columns_flat axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %limit = tile.splat %seq_k : i32 -> tensor<1x64xi32>
    %in_range = arith.cmpi slt, %columns, %limit : tensor<1x64xi32>

    // s = where(visible, scale * q k^T, -inf)
    %start_i64 = arith.extsi %start : i32 to i64
    %k_at = tile.advance %k_window, [%start_i64, %zero_i64] : !tile.block_ptr<64x64xbf16>
    %k_tile = tile.load %k_at : !tile.block_ptr<64x64xbf16>
    %k_trans = tile.trans %k_tile order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %qk = tile.dot %q_tile, %k_trans, %zero_tile
        : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %scale_tile = tile.splat %scale : f32 -> tensor<64x64xf32>
    %scaled = arith.mulf %qk, %scale_tile : tensor<64x64xf32>
    %in_range_tile = tile.broadcast %in_range : tensor<1x64xi1> -> tensor<64x64xi1>
    %s = arith.select %in_range_tile, %scaled, %neg_inf : tensor<64x64xi1>, tensor<64x64xf32>

    // m_new = max(m, max(s)). Until a row has seen a key both are -inf; the
    // reference of the exponentials is then 0, which is never stored.
    %row_max = tile.max %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %m_new = arith.maximumf %m, %row_max : tensor<64xf32>
    %none = arith.cmpf oeq, %m_new, %neg_inf_row : tensor<64xf32>
    %reference = arith.select %none, %zero_row, %m_new : tensor<64xi1>, tensor<64xf32>

    // p = exp(s - reference), alpha = exp(m - reference)
    %reference_column = tile.expand_dims %reference axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %reference_tile = tile.broadcast %reference_column : tensor<64x1xf32> -> tensor<64x64xf32>
    %shifted = arith.subf %s, %reference_tile : tensor<64x64xf32>
    %p = tile.exp %shifted fastmath<afn> : tensor<64x64xf32>
    %drop = arith.subf %m, %reference : tensor<64xf32>
    %alpha = tile.exp %drop fastmath<afn> : tensor<64xf32>
    %v_start = arith.extsi %start : i32 to i64
    %v_at = tile.advance %v_window, [%v_start, %zero_i64] : !tile.block_ptr<64x64xbf16>
    %v_tile = tile.load %v_at : !tile.block_ptr<64x64xbf16>

    // l = alpha l + sum(p)
    %l_scaled = arith.mulf %l, %alpha : tensor<64xf32>
    %p_sum = tile.sum %p axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %l_new = arith.addf %l_scaled, %p_sum : tensor<64xf32>

    // acc = alpha acc + p v
    %alpha_column = tile.expand_dims %alpha axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %alpha_tile = tile.broadcast %alpha_column : tensor<64x1xf32> -> tensor<64x64xf32>
    %acc_scaled = arith.mulf %acc, %alpha_tile : tensor<64x64xf32>
    %p_bf16 = tile.cast %p : tensor<64x64xf32> -> tensor<64x64xbf16>
    %acc_new = tile.dot %p_bf16, %v_tile, %acc_scaled
        : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %m_new, %l_new, %acc_new : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }

  // o = acc / l, with one quotient for each row; 0 for a row that saw no key.
  %norm = tile.expand_dims %loop#1 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %empty = arith.cmpf oeq, %norm, %zero_column : tensor<64x1xf32>
  %quotient = arith.divf %one_column, %norm : tensor<64x1xf32>
  %inverse = arith.select %empty, %zero_column, %quotient : tensor<64x1xi1>, tensor<64x1xf32>
  %inverse_tile = tile.broadcast %inverse : tensor<64x1xf32> -> tensor<64x64xf32>
  %out = arith.mulf %loop#2, %inverse_tile : tensor<64x64xf32>
  %out_bf16 = tile.cast %out : tensor<64x64xf32> -> tensor<64x64xbf16>
  %o_batch = arith.muli %batch_index, %o_stride_batch : i64
  %o_of_batch = tile.addptr %o, %o_batch : !tile.ptr<bf16>, i64
  %o_head = arith.muli %head_i64, %o_stride_head : i64
  %o_of_head = tile.addptr %o_of_batch, %o_head : !tile.ptr<bf16>, i64
  %o_row_start = arith.extsi %row_start : i32 to i64
  %o_window = tile.make_block_ptr %o_of_head shape[%rows_q, %head_dim] strides[%o_stride_row, %one]
      offsets[%o_row_start, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %o_window, %out_bf16 : !tile.block_ptr<64x64xbf16>

  // lse = m + log(l); -inf for a row that saw no key.
  %log_l = tile.log %loop#1 : tensor<64xf32>
  %log_sum_exp = arith.addf %loop#0, %log_l : tensor<64xf32>
  %heads_q_i64 = arith.extsi %heads_q : i32 to i64
  %lse_batch = arith.muli %batch_index, %heads_q_i64 : i64
  %lse_head = arith.addi %lse_batch, %head_i64 : i64
  %lse_row = arith.muli %lse_head, %rows_q : i64
  %lse_base = tile.addptr %lse, %lse_row : !tile.ptr<f32>, i64
  %lse_row_start = arith.extsi %row_start : i32 to i64
  %lse_window = tile.make_block_ptr %lse_base shape[%rows_q] strides[%one]
      offsets[%lse_row_start] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tile.store %lse_window, %log_sum_exp : !tile.block_ptr<64xf32>
  tile.return
}

tile.kernel @flash_attention_forward_causal(
    %q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %o: !tile.ptr<bf16>,
    %lse: !tile.ptr<f32>,
    %heads_q: i32, %heads_kv: i32, %seq_q: i32, %seq_k: i32, %batch: i32,
    %q_stride_batch: i64, %q_stride_head: i64, %q_stride_row: i64,
    %k_stride_batch: i64, %k_stride_head: i64, %k_stride_row: i64,
    %v_stride_batch: i64, %v_stride_head: i64, %v_stride_row: i64,
    %o_stride_batch: i64, %o_stride_head: i64, %o_stride_row: i64,
    %scale: f32)
    grid(heads_q, heads_kv, seq_q, seq_k, batch, qb, qh, qr, kb, kh, kr, vb, vh, vr, ob, oh, or)
    -> (seq_q ceildiv 64, heads_q, batch) {
  // Constants.
  %block = arith.constant 64 : i32
  %head_dim = arith.constant 64 : i64
  %one = arith.constant 1 : i64
  %zero_i64 = arith.constant 0 : i64
  %neg_inf_row = arith.constant dense<0xFF800000> : tensor<64xf32>
  %zero_row = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %zero_tile = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %zero = arith.constant 0 : i32
  %neg_inf = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %block_last = arith.constant 63 : i32
  %inf_bf16 = arith.constant dense<0x7F80> : tensor<64x64xbf16>
  %all_true = arith.constant dense<true> : tensor<64x64xi1>
  %one_i32 = arith.constant 1 : i32
  %zero_bf16 = arith.constant dense<0.000000e+00> : tensor<64x64xbf16>
  %zero_column = arith.constant dense<0.000000e+00> : tensor<64x1xf32>
  %one_column = arith.constant dense<1.000000e+00> : tensor<64x1xf32>

  // This program: 64 rows of q of one head of one batch.
  %pid = tile.program_id x
  %row_start = arith.muli %pid, %block : i32
  %head = tile.program_id y

  // heads_q / heads_kv query heads share one head of keys and values.
  %group = arith.divsi %heads_q, %heads_kv : i32
  %kv_head_i32 = arith.divsi %head, %group : i32
  %kv_head = arith.extsi %kv_head_i32 : i32 to i64
  %head_i64 = arith.extsi %head : i32 to i64
  %batch_pid = tile.program_id z
  %batch_index = arith.extsi %batch_pid : i32 to i64
  %rows_q = arith.extsi %seq_q : i32 to i64
  %rows_k = arith.extsi %seq_k : i32 to i64

  // The tile of queries. Rows beyond the end read as 0.
  %q_batch = arith.muli %batch_index, %q_stride_batch : i64
  %q_of_batch = tile.addptr %q, %q_batch : !tile.ptr<bf16>, i64
  %q_head = arith.muli %head_i64, %q_stride_head : i64
  %q_of_head = tile.addptr %q_of_batch, %q_head : !tile.ptr<bf16>, i64
  %row_start_i64 = arith.extsi %row_start : i32 to i64
  %q_window = tile.make_block_ptr %q_of_head shape[%rows_q, %head_dim] strides[%q_stride_row, %one]
      offsets[%row_start_i64, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %q_tile = tile.load %q_window : !tile.block_ptr<64x64xbf16>

  // Windows over keys and values; the loop moves them.
  %k_batch = arith.muli %batch_index, %k_stride_batch : i64
  %k_of_batch = tile.addptr %k, %k_batch : !tile.ptr<bf16>, i64
  %k_head = arith.muli %kv_head, %k_stride_head : i64
  %k_of_head = tile.addptr %k_of_batch, %k_head : !tile.ptr<bf16>, i64
  %k_window = tile.make_block_ptr %k_of_head shape[%rows_k, %head_dim] strides[%k_stride_row, %one]
      offsets[%zero_i64, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %v_batch = arith.muli %batch_index, %v_stride_batch : i64
  %v_of_batch = tile.addptr %v, %v_batch : !tile.ptr<bf16>, i64
  %v_head = arith.muli %kv_head, %v_stride_head : i64
  %v_of_head = tile.addptr %v_of_batch, %v_head : !tile.ptr<bf16>, i64
  %v_window = tile.make_block_ptr %v_of_head shape[%rows_k, %head_dim] strides[%v_stride_row, %one]
      offsets[%zero_i64, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %v_row_window = tile.make_block_ptr %v_of_head shape[%rows_k, %head_dim] strides[%v_stride_row, %one]
      offsets[%zero_i64, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<1x64xbf16>

  // Bottom-right aligned: row i sees key j iff j <= i + seq_k - seq_q.
  %row_lane = tile.arange 0 to 64 : tensor<64xi32>
  %row_base = tile.splat %row_start : i32 -> tensor<64xi32>
  %rows = arith.addi %row_base, %row_lane : tensor<64xi32>
  %shift = arith.subi %seq_k, %seq_q : i32
  %shift_tile = tile.splat %shift : i32 -> tensor<64xi32>
  %last_keys = arith.addi %rows, %shift_tile : tensor<64xi32>
  %last_key = tile.expand_dims %last_keys axis 1 : tensor<64xi32> -> tensor<64x1xi32>
  %seen_by_all = arith.addi %row_start, %shift : i32

  // One tile of 64 keys at a time, with the running maximum m of the scores, the
  // sum l of their exponentials and the weighted sum acc of the values.
  %loop:3 = scf.for %start = %zero to %seq_k step %block
      iter_args(%m = %neg_inf_row, %l = %zero_row, %acc = %zero_tile)
      -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) : i32 {
    // Which of the 64 keys from %start take part, by row.
    %lane = tile.arange 0 to 64 : tensor<64xi32>
    %start_tile = tile.splat %start : i32 -> tensor<64xi32>
    %columns_flat = arith.addi %start_tile, %lane : tensor<64xi32>
    %columns = tile.expand_dims %columns_flat axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %limit = tile.splat %seq_k : i32 -> tensor<1x64xi32>
    %in_range = arith.cmpi slt, %columns, %limit : tensor<1x64xi32>
    %columns_tile = tile.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
    %last_key_tile = tile.broadcast %last_key : tensor<64x1xi32> -> tensor<64x64xi32>
    %below_diagonal = arith.cmpi sle, %columns_tile, %last_key_tile : tensor<64x64xi32>
    %in_range_tile = tile.broadcast %in_range : tensor<1x64xi1> -> tensor<64x64xi1>
    %visible = arith.andi %in_range_tile, %below_diagonal : tensor<64x64xi1>

    // s = where(visible, scale * q k^T, -inf)
    %start_i64 = arith.extsi %start : i32 to i64
    %k_at = tile.advance %k_window, [%start_i64, %zero_i64] : !tile.block_ptr<64x64xbf16>
    %k_tile = tile.load %k_at : !tile.block_ptr<64x64xbf16>
    %k_trans = tile.trans %k_tile order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %qk = tile.dot %q_tile, %k_trans, %zero_tile
        : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %scale_tile = tile.splat %scale : f32 -> tensor<64x64xf32>
    %scaled = arith.mulf %qk, %scale_tile : tensor<64x64xf32>
    %s = arith.select %visible, %scaled, %neg_inf : tensor<64x64xi1>, tensor<64x64xf32>

    // m_new = max(m, max(s)). Until a row has seen a key both are -inf; the
    // reference of the exponentials is then 0, which is never stored.
    %row_max = tile.max %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %m_new = arith.maximumf %m, %row_max : tensor<64xf32>
    %none = arith.cmpf oeq, %m_new, %neg_inf_row : tensor<64xf32>
    %reference = arith.select %none, %zero_row, %m_new : tensor<64xi1>, tensor<64xf32>

    // p = exp(s - reference), alpha = exp(m - reference)
    %reference_column = tile.expand_dims %reference axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %reference_tile = tile.broadcast %reference_column : tensor<64x1xf32> -> tensor<64x64xf32>
    %shifted = arith.subf %s, %reference_tile : tensor<64x64xf32>
    %p = tile.exp %shifted fastmath<afn> : tensor<64x64xf32>
    %drop = arith.subf %m, %reference : tensor<64xf32>
    %alpha = tile.exp %drop fastmath<afn> : tensor<64xf32>
    %v_start = arith.extsi %start : i32 to i64
    %v_at = tile.advance %v_window, [%v_start, %zero_i64] : !tile.block_ptr<64x64xbf16>
    %v_tile = tile.load %v_at : !tile.block_ptr<64x64xbf16>

    // l = alpha l + sum(p)
    %l_scaled = arith.mulf %l, %alpha : tensor<64xf32>
    %p_sum = tile.sum %p axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %l_new = arith.addf %l_scaled, %p_sum : tensor<64xf32>

    // acc = alpha acc + p v
    %alpha_column = tile.expand_dims %alpha axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %alpha_tile = tile.broadcast %alpha_column : tensor<64x1xf32> -> tensor<64x64xf32>
    %acc_scaled = arith.mulf %acc, %alpha_tile : tensor<64x64xf32>
    %p_bf16 = tile.cast %p : tensor<64x64xf32> -> tensor<64x64xbf16>

    // The probability of a masked position is 0, but 0 * NaN is NaN: where v is
    // not finite, what a row does not see would reach it. Such tiles, which are
    // rare, are added key by key: where the first row does not see the last key.
    %tile_last = arith.addi %start, %block_last : i32
    %crosses = arith.cmpi sgt, %tile_last, %seen_by_all : i32
    %v_size = math.absf %v_tile : tensor<64x64xbf16>
    %v_finite = arith.cmpf olt, %v_size, %inf_bf16 : tensor<64x64xbf16>
    %v_not_finite = arith.xori %v_finite, %all_true : tensor<64x64xi1>
    %key_not_finite = tile.max %v_not_finite axis 1 : tensor<64x64xi1> -> tensor<64xi1>
    %any_not_finite = tile.max %key_not_finite axis 0 : tensor<64xi1> -> i1
    %careful = arith.andi %crosses, %any_not_finite : i1
    %acc_new = scf.if %careful -> (tensor<64x64xf32>) {
      %acc_seen = scf.for %key = %zero to %block step %one_i32
          iter_args(%sum = %acc_scaled) -> (tensor<64x64xf32>) : i32 {
        // weight = p[:, key], row = v[key, :]. Keys out of range count as seen:
        // there p and v are 0.
        %key_lane = tile.arange 0 to 64 : tensor<64xi32>
        %key_tile = tile.splat %key : i32 -> tensor<64xi32>
        %is_key_flat = arith.cmpi eq, %key_lane, %key_tile : tensor<64xi32>
        %is_key = tile.expand_dims %is_key_flat axis 0 : tensor<64xi1> -> tensor<1x64xi1>
        %is_key_tile = tile.broadcast %is_key : tensor<1x64xi1> -> tensor<64x64xi1>
        %p_of_key = arith.select %is_key_tile, %p_bf16, %zero_bf16
            : tensor<64x64xi1>, tensor<64x64xbf16>
        %weight_bf16 = tile.sum %p_of_key axis 1 : tensor<64x64xbf16> -> tensor<64xbf16>
        %weight = tile.cast %weight_bf16 : tensor<64xbf16> -> tensor<64xf32>
        %position = arith.addi %start, %key : i32
        %position_i64 = arith.extsi %position : i32 to i64
        %row_at = tile.advance %v_row_window, [%position_i64, %zero_i64] : !tile.block_ptr<1x64xbf16>
        %row_bf16 = tile.load %row_at : !tile.block_ptr<1x64xbf16>
        %row = tile.cast %row_bf16 : tensor<1x64xbf16> -> tensor<1x64xf32>

        // sum + where(seen, weight * row, weight), the latter being 0
        %weight_column = tile.expand_dims %weight axis 1 : tensor<64xf32> -> tensor<64x1xf32>
        %weight_tile = tile.broadcast %weight_column : tensor<64x1xf32> -> tensor<64x64xf32>
        %row_tile = tile.broadcast %row : tensor<1x64xf32> -> tensor<64x64xf32>
        %product = arith.mulf %weight_tile, %row_tile : tensor<64x64xf32>
        %position_column = tile.splat %position : i32 -> tensor<64x1xi32>
        %seen = arith.cmpi sge, %last_key, %position_column : tensor<64x1xi32>
        %seen_tile = tile.broadcast %seen : tensor<64x1xi1> -> tensor<64x64xi1>
        %seen_product = arith.select %seen_tile, %product, %weight_tile
            : tensor<64x64xi1>, tensor<64x64xf32>
        %sum_new = arith.addf %sum, %seen_product : tensor<64x64xf32>
        scf.yield %sum_new : tensor<64x64xf32>
      }
      scf.yield %acc_seen : tensor<64x64xf32>
    } else {
      %acc_product = tile.dot %p_bf16, %v_tile, %acc_scaled
          : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
      scf.yield %acc_product : tensor<64x64xf32>
    }
    scf.yield %m_new, %l_new, %acc_new : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }

  // o = acc / l, with one quotient for each row; 0 for a row that saw no key.
  %norm = tile.expand_dims %loop#1 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %empty = arith.cmpf oeq, %norm, %zero_column : tensor<64x1xf32>
  %quotient = arith.divf %one_column, %norm : tensor<64x1xf32>
  %inverse = arith.select %empty, %zero_column, %quotient : tensor<64x1xi1>, tensor<64x1xf32>
  %inverse_tile = tile.broadcast %inverse : tensor<64x1xf32> -> tensor<64x64xf32>
  %out = arith.mulf %loop#2, %inverse_tile : tensor<64x64xf32>
  %out_bf16 = tile.cast %out : tensor<64x64xf32> -> tensor<64x64xbf16>
  %o_batch = arith.muli %batch_index, %o_stride_batch : i64
  %o_of_batch = tile.addptr %o, %o_batch : !tile.ptr<bf16>, i64
  %o_head = arith.muli %head_i64, %o_stride_head : i64
  %o_of_head = tile.addptr %o_of_batch, %o_head : !tile.ptr<bf16>, i64
  %o_row_start = arith.extsi %row_start : i32 to i64
  %o_window = tile.make_block_ptr %o_of_head shape[%rows_q, %head_dim] strides[%o_stride_row, %one]
      offsets[%o_row_start, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  tile.store %o_window, %out_bf16 : !tile.block_ptr<64x64xbf16>

  // lse = m + log(l); -inf for a row that saw no key.
  %log_l = tile.log %loop#1 : tensor<64xf32>
  %log_sum_exp = arith.addf %loop#0, %log_l : tensor<64xf32>
  %heads_q_i64 = arith.extsi %heads_q : i32 to i64
  %lse_batch = arith.muli %batch_index, %heads_q_i64 : i64
  %lse_head = arith.addi %lse_batch, %head_i64 : i64
  %lse_row = arith.muli %lse_head, %rows_q : i64
  %lse_base = tile.addptr %lse, %lse_row : !tile.ptr<f32>, i64
  %lse_row_start = arith.extsi %row_start : i32 to i64
  %lse_window = tile.make_block_ptr %lse_base shape[%rows_q] strides[%one]
      offsets[%lse_row_start] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  tile.store %lse_window, %log_sum_exp : !tile.block_ptr<64xf32>
  tile.return
}
