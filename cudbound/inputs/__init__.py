"""Data and classifiers as commands and design files name them."""
