"""Resampling: which training sets are drawn, and what is recorded about the classifiers fitted to them."""

from __future__ import annotations

from cudbound.resampling.bootstrap import record_bootstrap, record_inner
from cudbound.resampling.folds import record_folds
from cudbound.resampling.plan import SCHEMES, ResamplingPlan, record_losses
from cudbound.resampling.single_class import POLICIES, Policy
from cudbound.resampling.sizes import ResamplingSizes

__all__ = [
    "POLICIES",
    "SCHEMES",
    "Policy",
    "ResamplingPlan",
    "ResamplingSizes",
    "record_bootstrap",
    "record_folds",
    "record_inner",
    "record_losses",
]
