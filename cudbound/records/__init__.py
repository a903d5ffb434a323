"""Recorded losses: the input of every method, from any software.

A loss is 0 or 1 (the classifier is right or wrong) or, if two learning algorithms are compared on matched splits, the
loss of the first minus that of the second: -1, 0 or 1. Results of other software can be put into these classes by
hand; they accept lists and arrays and check them, by the rules in `cudbound.records.rules`.
"""

from __future__ import annotations

from cudbound.basis.groups import Groups
from cudbound.records.losses import (
    BootstrapLosses,
    BootstrapScores,
    Design,
    FoldLosses,
    FoldScores,
    HalvingLosses,
    InnerErrors,
    RepeatedFoldLosses,
    SplitLosses,
    TestSetLosses,
    TestSetScores,
)
from cudbound.records.records import DESIGN, LOSSES, SCORES, Records, ScoreRecords

__all__ = [
    "DESIGN",
    "LOSSES",
    "SCORES",
    "BootstrapLosses",
    "BootstrapScores",
    "Design",
    "FoldLosses",
    "FoldScores",
    "Groups",
    "HalvingLosses",
    "InnerErrors",
    "Records",
    "RepeatedFoldLosses",
    "ScoreRecords",
    "SplitLosses",
    "TestSetLosses",
    "TestSetScores",
]
