// RUN: fa-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected 1 to 64 words, but got 65}}
func.func private @f(!tilegpu.words<65>)

// -----

tile.kernel @no_counter(%n: i32) grid(n) -> (n)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  tilegpu.warp_specialize {producer_registers = 56 : i32, consumer_registers = 256 : i32} producer {
    // expected-error@+1 {{expected a 'tile.kernel' with 'tilegpu.program_counter'}}
    %taken = tilegpu.take_program of %n
  } consumer {
  }
  tile.return
}

// -----

tile.kernel @in_consumer(%n: i32) grid(n) -> (n)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32, tilegpu.program_counter} {
  tilegpu.warp_specialize {producer_registers = 56 : i32, consumer_registers = 256 : i32} producer {
  } consumer {
    // expected-error@+1 {{expected to be in the producer region}}
    %taken = tilegpu.take_program of %n
  }
  tile.return
}

// -----

tile.kernel @write_in_consumer(%n: i32) grid(n) -> (n)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %words = tilegpu.words : !tilegpu.words<1>
  tilegpu.warp_specialize {producer_registers = 56 : i32, consumer_registers = 256 : i32} producer {
  } consumer {
    // expected-error@+1 {{expected to be in the producer region}}
    tilegpu.write_word %n to %words[%n] : !tilegpu.words<1>
  }
  tile.return
}
