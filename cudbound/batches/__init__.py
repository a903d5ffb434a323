"""Refits of many pipelines at once: every step fitted to a stack of weighted rows, every classifier minimised compiled.

A step takes the columns of all rows in each of a stack of fits and says which fits are clear: those in which it hangs
on no rounding error what comes out. What comes out of the others is finite and means nothing; they are refitted one by
one.
"""

from cudbound.batches.columns import BatchedFit, Columns, Draws
from cudbound.batches.linear import LinearFit
from cudbound.batches.refit import BatchedRefit, refit_in_batches

__all__ = ["BatchedFit", "BatchedRefit", "Columns", "Draws", "LinearFit", "refit_in_batches"]
