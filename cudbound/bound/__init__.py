"""From the draws' problems to confidence sets: the CUD bound, and the deviations of the adaptive interval."""
