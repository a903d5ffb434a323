"""Resampling: the training sets that are drawn, and the records of the classifiers fitted to them."""

from __future__ import annotations

from cudbound.resampling.settings import Resampling

__all__ = ["Resampling"]
