"""Recorded losses: the input of every method, from any software.

A loss is 0 or 1 (the classifier is right or wrong) or, if two learning algorithms are compared on matched splits, the
loss of the first minus that of the second: -1, 0 or 1. For the AUC and the Brier score the same classes have scores or
probabilities of the event instead. Results of other software can be put into these classes by hand; they accept lists
and arrays and check them, by the rules in `cudbound.records.rules`.
"""

from __future__ import annotations

from cudbound.basis.groups import Groups
from cudbound.records.losses import (
    BootstrapLosses,
    Design,
    FoldLosses,
    HalvingLosses,
    InnerErrors,
    RepeatedFoldLosses,
    SplitLosses,
    TestSetLosses,
    no_information_error,
)
from cudbound.records.records import DESIGN, LOSSES, SCORES, Records

__all__ = [
    "DESIGN",
    "LOSSES",
    "SCORES",
    "BootstrapLosses",
    "Design",
    "FoldLosses",
    "Groups",
    "HalvingLosses",
    "InnerErrors",
    "Records",
    "RepeatedFoldLosses",
    "SplitLosses",
    "TestSetLosses",
    "no_information_error",
]
