"""The clinical report: what a paper says of a classifier, its errors and their intervals, on one page."""
