"""Metrics: the error, sensitivity, specificity and other mean losses, and functions of them."""
