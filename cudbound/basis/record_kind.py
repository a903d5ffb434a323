"""Kinds of records: what a method needs, how it is made, and what is true of it with any numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, Literal, TypeVar

from cudbound.basis.exceptions import Faster

R = TypeVar("R")


@dataclass(frozen=True, order=True)
class Named:
    """Something that is compared by its name."""

    name: str


@dataclass(frozen=True, eq=False, repr=False)
class RecordKind(Named, Generic[R]):
    """One kind of record; kinds are equal if their names are.

    Attributes
    ----------
    name : str
        Its name in `cudbound.records.Records`, and of its stream of random numbers.
    holds : type
        The class of the record.
    words : str
        What is recorded, for messages.
    holder : str, default=""
        What to pass if it is missing; by default the name of the class.
    refit : callable or None
        ``refit(context)`` returns the record, from the refits of a `cudbound.resampling.context.RefitContext`.
    record : callable or None
        ``record(inputs, made)`` returns a record that needs more than refits, from `RecordingInputs` of
        `cudbound.resampling.make_records` and the records made before; per family ``record(inputs, target)``, with one
        of its targets; per target ``record(inputs, target, records)``, with the records as the target uses them.
        Without `refit` and `record` it comes with the classifier.
    n_fits : callable or None
        ``n_fits(inputs)``: number of refits, for the progress bar; exact unless draws are redrawn. None without refits.
    after : tuple of RecordKind
        Records that must be made first.
    per : {"call", "family", "target"}
        The unit for which it is made once.
    whole_groups : bool
        Whether rows are resampled in whole groups, or not at all.
    resamples : bool
        Whether rows of the training set are resampled.
    filled_by : callable or None
        ``filled_by(splits)``: whether splits such as the caller's can fill it.
    from_splits : callable or None
        ``from_splits(splits, outputs, remarks)`` returns it for such splits.
    fewer : tuple of Faster
        Ways to reduce its refits, if they depend on more than the rows.
    scored : bool
        Whether scores are kept along with losses, if a metric needs them.
    some_fail : bool
        Whether some of its refits may fail.
    of_every_metric : bool
        Whether methods of every metric can read it: it keeps the loss of each row, or is made for each metric, or
        serves all of them. Others keep means over rows of both classes, which no metric can take apart.
    of_model : bool
        Whether it needs the classifier written as an additive model with a convex loss.
    of_search : bool
        Whether the configurations of a search are refitted, and not the classifier.
    of_draws : bool
        Whether it reads the bootstrap draws.
    optional : bool
        Whether methods that need it have a variant without it.
    check : callable or None
        ``check(inputs)`` raises an error if the record of a model cannot be made.
    condition : str
        What `check` asks for, in words.
    """

    holds: type[R]
    words: str
    _: KW_ONLY
    holder: str = ""
    refit: Callable[[Any], R] | None = None
    record: Callable[..., Any] | None = None
    n_fits: Callable[[Any], int] | None = None
    after: tuple[RecordKind[Any], ...] = ()
    per: Literal["call", "family", "target"] = "call"
    whole_groups: bool = False
    resamples: bool = True
    filled_by: Callable[[Any], bool] | None = None
    from_splits: Callable[..., R] | None = None
    fewer: tuple[Faster, ...] = ()
    scored: bool = False
    some_fail: bool = False
    of_every_metric: bool = False
    of_model: bool = False
    of_search: bool = False
    of_draws: bool = False
    optional: bool = False
    check: Callable[[Any], None] | None = None
    condition: str = ""

    def __repr__(self) -> str:
        return f"RecordKind({self.name!r})"

    @property
    def keeps_groups(self) -> bool:
        """Whether it keeps groups of rows together without a splitter."""
        return self.whole_groups or (self.refit is None and self.record is None)

    @property
    def title(self) -> str:
        """What holds it, for messages."""
        return self.holder or self.holds.__name__

    def missing(self, method: str, output: str = "") -> ValueError:
        """Return the error for records without it, or without its losses or scores."""
        lacking = f"{output} of {self.words}" if output else self.words
        holder = f"{self.title}(..., {output}=...)" if output else self.title
        return ValueError(f"{method} needs {lacking}, not recorded here: pass {holder}.")
