"""Replicates computed on many cores, each kept in the store as soon as it is done."""
