"""Confidence sets from the problems of draws: the CUD bound, and the deviations of the adaptive interval."""
