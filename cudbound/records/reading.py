"""What every registered method reads from the records: whether they are complete, and what happened to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudbound.records.bootstrap_losses import never_out_of_bag

if TYPE_CHECKING:
    from cudbound.method_card import MethodCard
    from cudbound.records import Records


#: Records without which a method that reads them has a variant.
MAY_BE_ABSENT = frozenset({"inner", "signed_suprema"})


def check_records(method: MethodCard, records: Records) -> None:
    """Raise ValueError unless the records hold what a method needs, except those of `MAY_BE_ABSENT`."""
    for need in sorted(method.needs - MAY_BE_ABSENT):
        if getattr(records, need) is None:
            raise ValueError(f"{method.name} needs recorded {need} losses, and the records have none.")


def count_fits(method: MethodCard, records: Records) -> int:
    """Count the classifier fits behind a method, with the one on the whole training set."""
    found = (getattr(records, need) for need in method.needs)
    return 1 + sum(getattr(record, "n_fits", 0) for record in found if record is not None)


def shared_remarks(method: MethodCard, records: Records) -> tuple[str, ...]:
    """Return what happened to the resampled training sets that a method reads."""
    remarks: list[str] = []
    if "bootstrap" in method.needs and records.bootstrap is not None:
        remarks += records.bootstrap.remarks
        if never := never_out_of_bag(records.bootstrap.counts):
            remarks.append(f"{never} points never out of bag")
    for need in sorted(method.needs - {"bootstrap", "bound", "losses"}):
        remarks += getattr(getattr(records, need), "remarks", ())
    return tuple(remarks)
