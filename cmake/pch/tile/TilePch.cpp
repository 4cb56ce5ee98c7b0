// Carries the precompiled header for dialects and tile-level passes.
