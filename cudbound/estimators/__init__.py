"""Our own classifiers, and fits of many training sets at once."""
