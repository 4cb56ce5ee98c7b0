//===- flash_attention_backward.mlir - Gradients of attention -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of five products at 64 x 64 tiles, head dimension 64, bf16: dk and
// dv of a tile of keys, and its part of dq.
//
//   P_ij = exp(S_ij - lse_i)    dP_ij = dO_i . v_j    dS_ij = P_ij (dP_ij - delta_i)
//   dv_j = sum_i P_ij dO_i      dk_j = scale sum_i dS_ij q_i
//   dq_i = scale sum_j dS_ij k_j
//
// with S = scale * q k^T. `shift` is lse * log2(e), and `delta` the sums of dO * o, in rows
// of `row_pitch` elements for each head; `dq_sum` is [batch, heads_q, row_pitch,
// 64], without the scale. FlashAttentionBackwardKeys.cpp builds the same for any
// type, head dimension, tile and mask; a test keeps the two equal.
//
//===----------------------------------------------------------------------===//

tile.kernel @flash_attention_backward_keys(
    %q: !tile.ptr<bf16>, %k: !tile.ptr<bf16>, %v: !tile.ptr<bf16>, %grad_o: !tile.ptr<bf16>,
    %shift: !tile.ptr<f32>, %delta: !tile.ptr<f32>,
    %dk: !tile.ptr<bf16>, %dv: !tile.ptr<bf16>, %dq_sum: !tile.ptr<f32>,
    %heads_q: i32, %heads_kv: i32, %seq_q: i32, %seq_k: i32, %row_pitch: i32, %batch: i32,
    %q_stride_batch: i64, %q_stride_head: i64, %q_stride_row: i64,
    %k_stride_batch: i64, %k_stride_head: i64, %k_stride_row: i64,
    %v_stride_batch: i64, %v_stride_head: i64, %v_stride_row: i64,
    %grad_o_stride_batch: i64, %grad_o_stride_head: i64, %grad_o_stride_row: i64,
    %dk_stride_batch: i64, %dk_stride_head: i64, %dk_stride_row: i64,
    %dv_stride_batch: i64, %dv_stride_head: i64, %dv_stride_row: i64,
    %scale: f32)
    grid(heads_q, heads_kv, seq_q, seq_k, row_pitch, batch, qb, qh, qr, kb, kh, kr, vb, vh, vr, ob, oh, or,
         dkb, dkh, dkr, dvb, dvh, dvr)
    -> (seq_k ceildiv 64, heads_kv, batch) {
  // Constants.
  %block = arith.constant 64 : i32
  %zero = arith.constant 0 : i32
  %head_dim = arith.constant 64 : i64
  %one = arith.constant 1 : i64
  %zero_i64 = arith.constant 0 : i64
  %zero_tile = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %log2_e = arith.constant 1.44269502 : f32

  // This program: 64 keys of one head of one batch.
  %pitch = arith.extsi %row_pitch : i32 to i64
  %pid = tile.program_id x
  %key_start = arith.muli %pid, %block : i32
  %head = tile.program_id y
  %batch_pid = tile.program_id z
  %batch_index = arith.extsi %batch_pid : i32 to i64
  %rows_q = arith.extsi %seq_q : i32 to i64
  %rows_k = arith.extsi %seq_k : i32 to i64

  // Its keys and values. Rows beyond the end read as 0.
  %k_batch = arith.muli %batch_index, %k_stride_batch : i64
  %k_of_batch = tile.addptr %k, %k_batch : !tile.ptr<bf16>, i64
  %k_head_i64 = arith.extsi %head : i32 to i64
  %k_head = arith.muli %k_head_i64, %k_stride_head : i64
  %k_of_head = tile.addptr %k_of_batch, %k_head : !tile.ptr<bf16>, i64
  %k_start = arith.extsi %key_start : i32 to i64
  %k_window = tile.make_block_ptr %k_of_head shape[%rows_k, %head_dim] strides[%k_stride_row, %one]
      offsets[%k_start, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %k_tile = tile.load %k_window : !tile.block_ptr<64x64xbf16>
  %v_batch = arith.muli %batch_index, %v_stride_batch : i64
  %v_of_batch = tile.addptr %v, %v_batch : !tile.ptr<bf16>, i64
  %v_head_i64 = arith.extsi %head : i32 to i64
  %v_head = arith.muli %v_head_i64, %v_stride_head : i64
  %v_of_head = tile.addptr %v_of_batch, %v_head : !tile.ptr<bf16>, i64
  %v_start = arith.extsi %key_start : i32 to i64
  %v_window = tile.make_block_ptr %v_of_head shape[%rows_k, %head_dim] strides[%v_stride_row, %one]
      offsets[%v_start, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %v_tile = tile.load %v_window : !tile.block_ptr<64x64xbf16>

  // The keys as a column, for the mask.
  %key_lane = tile.arange 0 to 64 : tensor<64xi32>
  %key_start_tile = tile.splat %key_start : i32 -> tensor<64xi32>
  %keys_flat = arith.addi %key_start_tile, %key_lane : tensor<64xi32>
  %keys = tile.expand_dims %keys_flat axis 1 : tensor<64xi32> -> tensor<64x1xi32>

  // Windows over queries and the gradient of o; the loop moves them.
  %q_batch = arith.muli %batch_index, %q_stride_batch : i64
  %q_of_batch = tile.addptr %q, %q_batch : !tile.ptr<bf16>, i64
  %q_head_i64 = arith.extsi %head : i32 to i64
  %q_head = arith.muli %q_head_i64, %q_stride_head : i64
  %q_of_head = tile.addptr %q_of_batch, %q_head : !tile.ptr<bf16>, i64
  %o_batch = arith.muli %batch_index, %grad_o_stride_batch : i64
  %o_of_batch = tile.addptr %grad_o, %o_batch : !tile.ptr<bf16>, i64
  %o_head_i64 = arith.extsi %head : i32 to i64
  %o_head = arith.muli %o_head_i64, %grad_o_stride_head : i64
  %o_of_head = tile.addptr %o_of_batch, %o_head : !tile.ptr<bf16>, i64
  %q_window = tile.make_block_ptr %q_of_head shape[%rows_q, %head_dim] strides[%q_stride_row, %one]
      offsets[%zero_i64, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %o_window = tile.make_block_ptr %o_of_head shape[%rows_q, %head_dim] strides[%grad_o_stride_row, %one]
      offsets[%zero_i64, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>

  // What is known of each row of queries; rows behind the end have shift 1e30, so
  // that their weights are 0.
  %heads_i64 = arith.extsi %heads_q : i32 to i64
  %first_vector = arith.muli %batch_index, %heads_i64 : i64
  %head_i64 = arith.extsi %head : i32 to i64
  %vector = arith.addi %first_vector, %head_i64 : i64
  %shift_offset = arith.muli %vector, %pitch : i64
  %shift_of_head = tile.addptr %shift, %shift_offset : !tile.ptr<f32>, i64
  %shift_window = tile.make_block_ptr %shift_of_head shape[%pitch] strides[%one]
      offsets[%zero_i64] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>
  %delta_offset = arith.muli %vector, %pitch : i64
  %delta_of_head = tile.addptr %delta, %delta_offset : !tile.ptr<f32>, i64
  %delta_window = tile.make_block_ptr %delta_of_head shape[%pitch] strides[%one]
      offsets[%zero_i64] : !tile.ptr<f32> -> !tile.block_ptr<64xf32>

  // The sums of dq of all programs.
  %dq_vector = arith.muli %vector, %pitch : i64
  %dq_offset = arith.muli %dq_vector, %head_dim : i64
  %dq_of_head = tile.addptr %dq_sum, %dq_offset : !tile.ptr<f32>, i64
  %dq_window = tile.make_block_ptr %dq_of_head shape[%pitch, %head_dim] strides[%head_dim, %one]
      offsets[%zero_i64, %zero_i64] : !tile.ptr<f32> -> !tile.block_ptr<64x64xf32>

  // One tile of 64 queries at a time. Scores are transposed: [keys, queries].
  %loop:2 = scf.for %start = %zero to %seq_q step %block
      iter_args(%dk_sum = %zero_tile, %dv_sum = %zero_tile)
      -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    // Which positions take part. A mask is needed where keys behind the end meet dq.
    %lane = tile.arange 0 to 64 : tensor<64xi32>
    %start_tile = tile.splat %start : i32 -> tensor<64xi32>
    %rows_flat = arith.addi %start_tile, %lane : tensor<64xi32>
    %rows = tile.expand_dims %rows_flat axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %row_limit = tile.splat %seq_q : i32 -> tensor<1x64xi32>
    %row_in_range = arith.cmpi slt, %rows, %row_limit : tensor<1x64xi32>
    %key_limit = tile.splat %seq_k : i32 -> tensor<64x1xi32>
    %key_in_range = arith.cmpi slt, %keys, %key_limit : tensor<64x1xi32>
    %row_in_range_tile = tile.broadcast %row_in_range : tensor<1x64xi1> -> tensor<64x64xi1>
    %key_in_range_tile = tile.broadcast %key_in_range : tensor<64x1xi1> -> tensor<64x64xi1>
    %visible = arith.andi %row_in_range_tile, %key_in_range_tile : tensor<64x64xi1>

    // The tiles of this iteration.
    %q_start = arith.extsi %start : i32 to i64
    %q_at = tile.advance %q_window, [%q_start, %zero_i64] : !tile.block_ptr<64x64xbf16>
    %q_tile = tile.load %q_at : !tile.block_ptr<64x64xbf16>
    %o_start = arith.extsi %start : i32 to i64
    %o_at = tile.advance %o_window, [%o_start, %zero_i64] : !tile.block_ptr<64x64xbf16>
    %o_tile = tile.load %o_at : !tile.block_ptr<64x64xbf16>
    %shift_start = arith.extsi %start : i32 to i64
    %shift_at = tile.advance %shift_window, [%shift_start] : !tile.block_ptr<64xf32>
    %shift_row = tile.load %shift_at : !tile.block_ptr<64xf32>
    %delta_start = arith.extsi %start : i32 to i64
    %delta_at = tile.advance %delta_window, [%delta_start] : !tile.block_ptr<64xf32>
    %delta_row = tile.load %delta_at : !tile.block_ptr<64xf32>

    // p = where(visible, exp(scale * k q^T - lse), 0), as a power of two
    %q_trans = tile.trans %q_tile order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %kq = tile.dot %k_tile, %q_trans, %zero_tile : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %shift_as_row = tile.expand_dims %shift_row axis 0 : tensor<64xf32> -> tensor<1x64xf32>
    %binary_scale = arith.mulf %scale, %log2_e : f32
    %scale_tile = tile.splat %binary_scale : f32 -> tensor<64x64xf32>
    %s = arith.mulf %kq, %scale_tile : tensor<64x64xf32>
    %shift_tile = tile.broadcast %shift_as_row : tensor<1x64xf32> -> tensor<64x64xf32>
    %exponent = arith.subf %s, %shift_tile : tensor<64x64xf32>
    %weight = tile.exp2 %exponent fastmath<afn> : tensor<64x64xf32>
    %p = arith.select %visible, %weight, %zero_tile : tensor<64x64xi1>, tensor<64x64xf32>

    // dp = v dO^T, ds = p * (dp - delta)
    %o_trans = tile.trans %o_tile order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %dp = tile.dot %v_tile, %o_trans, %zero_tile : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %delta_as_row = tile.expand_dims %delta_row axis 0 : tensor<64xf32> -> tensor<1x64xf32>
    %delta_tile = tile.broadcast %delta_as_row : tensor<1x64xf32> -> tensor<64x64xf32>
    %centred = arith.subf %dp, %delta_tile : tensor<64x64xf32>
    %ds = arith.mulf %p, %centred : tensor<64x64xf32>

    // dv += p dO, dk += ds q: left operands as they were computed.
    %p_narrow = tile.cast %p : tensor<64x64xf32> -> tensor<64x64xbf16>
    %ds_narrow = tile.cast %ds : tensor<64x64xf32> -> tensor<64x64xbf16>
    %dv_new = tile.dot %p_narrow, %o_tile, %dv_sum : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %dk_new = tile.dot %ds_narrow, %q_tile, %dk_sum
        : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>

    // dq += ds^T k, to which other programs add as well.
    %dq_start = arith.extsi %start : i32 to i64
    %dq_at = tile.advance %dq_window, [%dq_start, %zero_i64] : !tile.block_ptr<64x64xf32>
    %ds_trans = tile.trans %ds_narrow order [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
    %dq_part = tile.dot %ds_trans, %k_tile, %zero_tile
        : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %old = tile.atomic_add %dq_at, %dq_part : !tile.block_ptr<64x64xf32>
    scf.yield %dk_new, %dv_new : tensor<64x64xf32>, tensor<64x64xf32>
  }

  // dk takes the scale once.
  %dk_scale = tile.splat %scale : f32 -> tensor<64x64xf32>
  %dk_scaled = arith.mulf %loop#0, %dk_scale : tensor<64x64xf32>
  %dk_batch = arith.muli %batch_index, %dk_stride_batch : i64
  %dk_of_batch = tile.addptr %dk, %dk_batch : !tile.ptr<bf16>, i64
  %dk_head_i64 = arith.extsi %head : i32 to i64
  %dk_head = arith.muli %dk_head_i64, %dk_stride_head : i64
  %dk_of_head = tile.addptr %dk_of_batch, %dk_head : !tile.ptr<bf16>, i64
  %dk_start = arith.extsi %key_start : i32 to i64
  %dk_window = tile.make_block_ptr %dk_of_head shape[%rows_k, %head_dim] strides[%dk_stride_row, %one]
      offsets[%dk_start, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %dk_tile = tile.cast %dk_scaled : tensor<64x64xf32> -> tensor<64x64xbf16>
  tile.store %dk_window, %dk_tile : !tile.block_ptr<64x64xbf16>

  // dv.
  %dv_batch = arith.muli %batch_index, %dv_stride_batch : i64
  %dv_of_batch = tile.addptr %dv, %dv_batch : !tile.ptr<bf16>, i64
  %dv_head_i64 = arith.extsi %head : i32 to i64
  %dv_head = arith.muli %dv_head_i64, %dv_stride_head : i64
  %dv_of_head = tile.addptr %dv_of_batch, %dv_head : !tile.ptr<bf16>, i64
  %dv_start = arith.extsi %key_start : i32 to i64
  %dv_window = tile.make_block_ptr %dv_of_head shape[%rows_k, %head_dim] strides[%dv_stride_row, %one]
      offsets[%dv_start, %zero_i64] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
  %dv_tile = tile.cast %loop#1 : tensor<64x64xf32> -> tensor<64x64xbf16>
  tile.store %dv_window, %dv_tile : !tile.block_ptr<64x64xbf16>
  tile.return
}
