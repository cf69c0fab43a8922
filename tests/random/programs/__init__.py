"""Random programs: made, written as MLIR, run, compared and made smaller."""
