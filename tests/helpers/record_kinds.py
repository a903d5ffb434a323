"""Kinds of records by their names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cudbound.analysis.from_records import RECORD_KINDS
from cudbound.basis.method_card import RecordKind
from cudbound.intervals.method import OWN_INTERVALS
from cudbound.resampling.splits import Splits

KINDS: dict[str, RecordKind[Any]] = {kind.name: kind for kind in (*sorted(RECORD_KINDS), OWN_INTERVALS)}


def kinds(names: Iterable[str]) -> frozenset[RecordKind[Any]]:
    """Return the kinds with these names."""
    return frozenset(KINDS[name] for name in names)


def names_of(needs: Iterable[RecordKind[Any]]) -> frozenset[str]:
    """Return the names of kinds."""
    return frozenset(kind.name for kind in needs)


def filled_by(splits: Splits) -> set[str]:
    """Return the names of the kinds that splits can fill."""
    return {name for name, kind in KINDS.items() if kind.filled_by is not None and kind.filled_by(splits)}
