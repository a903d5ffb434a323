"""Our own classifiers, and simultaneous fits to many training sets."""
