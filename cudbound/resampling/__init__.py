"""Resampling: which training sets are drawn, and what is recorded about the classifiers fitted to them."""

from __future__ import annotations

from cudbound.resampling.plan import SCHEMES, ResamplingPlan, record_losses
from cudbound.resampling.sizes import ResamplingSizes

__all__ = ["SCHEMES", "ResamplingPlan", "ResamplingSizes", "record_losses"]
