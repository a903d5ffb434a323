"""The clinical report: the performance of a classifier with intervals, on one page."""
