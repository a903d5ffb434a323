"""Classifiers of this package, and simultaneous fits to many training sets."""
