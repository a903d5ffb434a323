"""What is known before anything is recorded, with a separate random stream for each record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from cudbound.adapters.outputs import RecordedOutputs
from cudbound.adapters.parts import splits_rows
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import Needs
from cudbound.basis.record_kind import RecordKind
from cudbound.basis.sample import Sample
from cudbound.basis.validation import check_inner
from cudbound.bound.cud_bound import Bound
from cudbound.problem.problem import AdditiveModel
from cudbound.resampling.context import RefitContext
from cudbound.resampling.failed_refits import Failures
from cudbound.resampling.refits import Refits, prepare_refits
from cudbound.resampling.settings import Policy, Resampling, ResamplingSizes
from cudbound.resampling.splitters import Splits, make_splits
from cudbound.solve.solve_draws import Search

Counts = NDArray[np.int32]
#: Inner draws per draw if refits are made in batches.
INNER_DRAWS = 50


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordingInputs:
    """Everything known before anything is recorded.

    Attributes
    ----------
    sample : Sample
    counts : ndarray of int32, shape (n_resamples, n_samples)
        The bootstrap draws. The bound uses every one.
    streams : mapping of str to numpy.random.Generator
        From `spawn_streams`.
    estimator : object
        The fitted classifier.
    given_refits : Refits or None
        The refits to record, such as differences between two classifiers; None for the classifier itself.
    refits_of_each : (Refits, Refits) or None
        The refits of the two classifiers whose differences are recorded.
    resampling : Resampling
    inner_by_default : bool
        Whether inner draws are made by default if refits are made in batches.
    splits : Splits or None
        The caller's splits, or folds of whole groups; records that they can fill are not drawn.
    test_set : (array-like, ndarray) or None
        New cases.
    test_remarks : tuple of str
        A remark if some of these are training rows.
    model : AdditiveModel or None
    bound : Bound
    localization : float
        Localization rate of the bound on the scale of the mean loss.
    search : Search
        How far the draws of the bound are solved.
    user_functions : mapping of str to callable
        User-defined methods, which fit by themselves, by name.
    scoring : RecordedOutputs
        The outputs kept for each row in addition to its loss.
    n_jobs : int
    advance : callable
        Called with the number of fits after each piece of work.
    """

    sample: Sample
    counts: Counts
    streams: Mapping[str, np.random.Generator]
    estimator: Any = None
    given_refits: Refits | None = None
    refits_of_each: tuple[Refits, Refits] | None = None
    resampling: Resampling = field(default_factory=Resampling)
    inner_by_default: bool = True
    splits: Splits | None = None
    test_set: tuple[Any, NDArray[Any]] | None = None
    test_remarks: tuple[str, ...] = ()
    model: AdditiveModel | None = None
    bound: Bound = field(default_factory=Bound)
    localization: float = 0.0
    search: Search = field(default_factory=Search)
    user_functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    scoring: RecordedOutputs = field(default_factory=RecordedOutputs)
    n_jobs: int = 1
    advance: Callable[[int], object] = lambda _: None
    _contexts: dict[str, RefitContext] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls,
        sample: Sample,
        needs: Needs,
        streams: Mapping[str, np.random.Generator],
        resampling: Resampling,
        **further: Any,
    ) -> RecordingInputs:
        """Return what is known; `needs` determine whether there are folds of whole groups."""
        cv, groups = resampling.cv, sample.groups
        if (
            cv is None
            and groups is not None
            and any(kind.filled_by and not kind.keeps_groups for kind in needs)
        ):
            cv = GroupKFold(min(resampling.sizes.n_folds, groups.n_groups))
        splits = None
        if cv is not None:
            rng = streams["cv"].spawn(1)[0]
            splits = make_splits(cv, sample.X, sample.y, sample.names_of_groups, rng)
        return cls(sample=sample, streams=streams, resampling=resampling, splits=splits, **further)

    @cached_property
    def refits(self) -> Refits:
        """How the classifier is refitted."""
        if self.given_refits is not None:
            return self.given_refits
        sample = self.sample
        return prepare_refits(
            self.estimator,
            sample.X,
            sample.y,
            n_jobs=self.n_jobs,
            sample_weight=sample.sample_weight,
            groups=sample.names_of_groups,
            scoring=self.scoring,
        )

    @cached_property
    def n_inner(self) -> int | None:
        """Inner draws per draw; None for the out-of-bag variant, which redraws draws that leave no row out."""
        if self.resampling.inner is not None:
            return check_inner(self.resampling.inner)
        return INNER_DRAWS if self.inner_by_default and self.copies and self.refits.batched else None

    @cached_property
    def copies(self) -> bool:
        """Whether a classifier is refitted to a draw with all copies of its rows, or to each of its rows once."""
        if self.resampling.copies is not None:
            return self.resampling.copies
        return not splits_rows(self.estimator)

    def prepared(self) -> RecordingInputs:
        """Return the same with its refits; raise ParameterError if inner draws are asked of draws without copies."""
        inner = self.resampling.inner
        if inner not in (None, "oob") and not self.copies:
            rule = "'oob' or None for a classifier that is refitted without copies of rows"
            raise ParameterError("inner", rule, inner, " To refit it with copies, pass copies=True as well.")
        return replace(self, given_refits=self.refits)

    def fills(self, kind: RecordKind[Any]) -> bool:
        """Whether the splits fill a record; folds made for groups leave alone those that keep groups themselves."""
        if self.splits is None or kind.filled_by is None or not kind.filled_by(self.splits):
            return False
        return self.resampling.cv is not None or not kind.keeps_groups

    @cached_property
    def sizes(self) -> ResamplingSizes:
        """The requested sizes, with the number and test share of the caller's splits.

        Variances from halves or replicates of the data are for a mean over the same number and size of splits.
        """
        sizes, splits = self.resampling.sizes, self.splits
        if splits is None:
            return sizes
        n_splits, test_fraction = max(2, len(splits.test)), float(splits.test.mean())
        return replace(sizes, n_splits=n_splits, test_fraction=test_fraction)

    @property
    def policy(self) -> Policy:
        """The treatment of training sets with one class."""
        policy: Any = self.resampling.on_single_class
        return policy or ("fit" if self.refits.batched else "redraw")

    @property
    def n_units(self) -> int:
        """Rows, or groups of rows, that are drawn and left out together."""
        groups = self.sample.groups
        return self.sample.n_samples if groups is None else groups.n_groups

    def context(self, kind: RecordKind[Any]) -> RefitContext:
        """Return the refits of a record, with their random numbers."""
        if kind.name not in self._contexts:
            draws, seeds = self.streams[kind.name].spawn(2)
            errors: Failures | None = {} if kind.some_fail else None
            each = "draw" if kind.of_draws else "split"
            self._contexts[kind.name] = self.context_with(draws, seeds, errors, scored=kind.scored, each=each)
        return self._contexts[kind.name]

    def context_with(
        self,
        draws: np.random.Generator,
        seeds: np.random.Generator,
        errors: Failures | None = None,
        *,
        scored: bool = False,
        each: str = "split",
    ) -> RefitContext:
        """Return refits with these random numbers; parameters as for `Refits.recorded`."""
        scored = scored and bool(self.scoring.kinds)
        refit = self.refits.recorded(seeds, self.advance, errors, scored=scored, each=each)
        sample = self.sample
        return RefitContext(refit, sample.labels, self.sizes, self.policy, draws, sample.groups, errors)
