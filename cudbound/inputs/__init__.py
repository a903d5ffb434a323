"""Data files and classifiers, as named in commands and design files."""
