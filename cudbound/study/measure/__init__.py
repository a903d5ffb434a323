"""Coverage, width and bias of every method in every cell, with Monte Carlo standard errors."""
