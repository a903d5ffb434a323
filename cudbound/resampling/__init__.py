"""Resampling: the training sets that are drawn, and the records of the classifiers fitted to them."""

from __future__ import annotations

from cudbound.resampling.resampling import Resampling
from cudbound.resampling.sizes import ResamplingSizes

__all__ = ["Resampling", "ResamplingSizes"]
