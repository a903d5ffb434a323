"""The report of a study: one self-contained page, or its tables."""
