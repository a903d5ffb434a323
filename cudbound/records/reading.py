"""Checks and remarks on the records that a method reads."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from typing import TYPE_CHECKING

from cudbound.records.bootstrap_losses import never_out_of_bag
from cudbound.records.words import WORDS, missing_record

if TYPE_CHECKING:
    from cudbound.basis.method_card import MethodCard
    from cudbound.basis.outcomes import TestedRows
    from cudbound.records import Records, ScoreRecords


#: Records without which a method that reads them has a variant.
MAY_BE_ABSENT = frozenset({"inner", "design"})
#: Records for which no rows of the training set are resampled.
UNGROUPED = frozenset({"losses", "bolstered", "test_set", "second_test_set"})


def check_records(method: MethodCard, records: Records | ScoreRecords, needs: Set[str]) -> None:
    """Raise ValueError if a record that a method needs is missing, except those in `MAY_BE_ABSENT`."""
    for need in sorted(needs - MAY_BE_ABSENT):
        if getattr(records, need) is None:
            raise missing_record(method.name, need, records.kind)


def check_single_error(method: MethodCard, records: Records | ScoreRecords, needs: Set[str]) -> None:
    """Raise ValueError if a method for one classifier reads differences of two losses."""
    for need in sorted(needs - {"bound"}):
        record = records if need == "losses" else getattr(records, need)
        if getattr(record, "of_differences", False):
            raise ValueError(
                f"{method.name} reads the losses of one classifier, which are in [0, 1]. Got negative values in "
                f"{WORDS[need][1]}, as in differences; compare two classifiers with cudbound.comparison_of."
            )


def count_fits(records: Records | ScoreRecords, needs: Set[str]) -> int:
    """Count the classifier fits behind a method, including the one on the whole training set."""
    found = (getattr(records, need) for need in needs)
    return 1 + sum(getattr(record, "n_fits", 0) for record in found if record is not None)


def tested_in(records: Records | ScoreRecords, needs: Set[str]) -> TestedRows | None:
    """Return the rows on which a method tests one classifier, or each of two its own; None if it does not."""
    if "test_set" not in needs or records.test_set is None:
        return None
    tested = records.test_set.rows_of()
    second = getattr(records, "second_test_set", None) if "second_test_set" in needs else None
    return tested if second is None else replace(tested, n=tested.n + second.rows_of().n, n_events=None)


def based_on(tested: TestedRows | None) -> tuple[str, ...]:
    """Return a remark on the tested rows, if their classes are known."""
    return () if tested is None or tested.n_events is None else (f"based on {tested}",)


def shared_remarks(
    records: Records | ScoreRecords, needs: Set[str], with_groups: str = "kept"
) -> tuple[str, ...]:
    """Return the remarks on the resampled training sets, and on groups of rows, that a method reads."""
    remarks: list[str] = []
    if "bootstrap" in needs and records.bootstrap is not None:
        remarks += records.bootstrap.remarks
        if never := never_out_of_bag(records.bootstrap.counts):
            remarks.append(f"{never} points never out of bag")
    for need in sorted(needs - {"bootstrap", "bound", "losses"}):
        remarks += getattr(getattr(records, need), "remarks", ())
    if records.groups is not None and needs - UNGROUPED:
        remarks.append(f"{records.groups} kept together")
        if with_groups == "refits":
            remarks.append("limits as if the rows of a group were independent")
    return tuple(remarks)
