tile.kernel @nothing() grid() -> (1) { tile.return }
