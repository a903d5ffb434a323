"""Refits of many pipelines at once: every step fitted to a stack of weighted rows, every classifier by compiled code.

A step takes the columns of all rows in each of a stack of fits and says which fits are clear: those whose result no
rounding error can change. The output of the others is finite but meaningless; they are refitted one at a time.
"""
