"""What a draw asks: the fitted classifier as an additive model, the draws as counts, their problems as arrays."""
