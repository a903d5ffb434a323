"""The problem of a draw: the classifier as an additive model, the draws as counts, their problems as arrays."""
