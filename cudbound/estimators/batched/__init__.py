"""Refits of many pipelines at once: every step fitted to a stack of weighted rows, every classifier minimized compiled.

A step takes the columns of all rows in each of a stack of fits and says which fits are clear: those in which it hangs
on no rounding error what comes out. What comes out of the others is finite and means nothing; they are refitted one by
one.
"""

from cudbound.estimators.batched.batched_refit import BatchedRefit, refit_in_batches
from cudbound.estimators.batched.columns import BatchedFit, Columns, Draws
from cudbound.estimators.batched.minimizers import LinearFit

__all__ = ["BatchedFit", "BatchedRefit", "Columns", "Draws", "LinearFit", "refit_in_batches"]
