// Carries the precompiled header for code that lowers to the LLVM dialect.
