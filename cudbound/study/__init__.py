"""Coverage studies: how often intervals hold the truth, and how wide they are, over simulated training sets."""
