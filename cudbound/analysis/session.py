"""What the entry points that refit share: one session from the arguments to the rows of a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from cudbound.analysis.caller_splits import FROM_SPLITS, check_test_set, check_use, unless_torn
from cudbound.basis.aligned import check_index
from cudbound.basis.exceptions import TrainingRowsWarning
from cudbound.basis.groups import Groups, check_groups
from cudbound.basis.method_card import Asked, MethodCard
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.results import OneRow
from cudbound.basis.validation import (
    check_choice,
    check_labels,
    check_lengths,
    check_n_jobs,
    check_rng,
    count_rows,
)
from cudbound.intervals import Method
from cudbound.problem.draws import check_resamples, draw_counts
from cudbound.records import Design, Records, TestSetLosses
from cudbound.report.run_facts import describe_data, seed_of
from cudbound.resampling import ResamplingPlan, ResamplingSizes
from cudbound.resampling.equal_rows import count_equal_rows
from cudbound.resampling.plan import record_refits, spawn_streams, training_records
from cudbound.resampling.refits import Refits
from cudbound.resampling.single_class import POLICIES, Policy
from cudbound.resampling.splitters import Splits, make_splits

Named = TypeVar("Named", bound=MethodCard)
#: Makes bootstrap draws from labels, a number of draws, a generator and the groups of the rows.
Draw = Callable[[NDArray[np.float64], int, np.random.Generator, Groups | None], NDArray[np.int32]]


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """A training set in the words of a classifier, and as plain labels.

    Attributes
    ----------
    X : array-like, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
        Out of `classes`.
    labels : ndarray of float, shape (n_samples,)
        -1.0 for ``classes[0]``, +1.0 for ``classes[1]``.
    classes : ndarray, shape (2,)
    groups : Groups or None
        Rows that are drawn and left out together.
    """

    X: Any
    y: NDArray[Any]
    labels: NDArray[np.float64]
    classes: NDArray[Any]
    groups: Groups | None = None

    @property
    def n_samples(self) -> int:
        """Rows of the training set."""
        return int(self.labels.size)


@dataclass(frozen=True, eq=False)
class Resampling:
    """What a caller says of the rows that are fitted and tested: see `cudbound.compare_intervals`."""

    sizes: ResamplingSizes | None = None
    on_single_class: str | None = None
    cv: Any = None
    test_set: tuple[Any, Any] | None = None
    n_inner: int | None = 50


class Session(Generic[Named]):
    """One call of an entry point: what was asked for, the sample, and what was recorded.

    Parameters
    ----------
    asked : Asked
    rng : int, numpy.random.Generator or None
    n_jobs : int or None

    Attributes
    ----------
    rng : numpy.random.Generator
    seed : int or None
        The seed, if it is known.
    sample : TrainingSet
        After `take`.
    streams : mapping of str to numpy.random.Generator
        After `take`: a generator for each record.
    plan : ResamplingPlan
        After `prepare`.
    new_cases : (array-like, ndarray) or None
        After `prepare`: what was passed as `test_set`, checked.
    test_remarks : tuple of str
        After `prepare`: how many of these are training rows, if any are.
    failed : dict of str to Exception
        Why records could not be made, by the fields of `Records`.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """

    sample: TrainingSet
    streams: Mapping[str, np.random.Generator]
    plan: ResamplingPlan

    def __init__(
        self,
        asked: Asked[Named],
        *,
        rng: Any,
        n_jobs: int | None,
    ):
        self.asked = asked
        self.methods: Sequence[Named] = asked.methods
        self.n_jobs = check_n_jobs(n_jobs)
        self.rng, self.seed = check_rng(rng), seed_of(rng)
        self.failed: dict[str, Exception] = {}
        self._design: Design | None = None
        self.new_cases: tuple[Any, NDArray[Any]] | None = None
        self.test_remarks: tuple[str, ...] = ()

    def needs_of(self, method: MethodCard) -> frozenset[str]:
        """Return what must be recorded for a method, given the matrix of the classifier."""
        return method.needed_for(self._design) if isinstance(method, Method) else method.needs

    def options_of(self, method: Named) -> Mapping[str, Any]:
        """Return the options of a method that differ from their defaults."""
        return self.asked.options_of(method)

    def take(
        self,
        X: Any,
        y: Any,
        classes: NDArray[Any],
        n_resamples: object = None,
        groups: Any = None,
        draw: Draw | None = None,
    ) -> NDArray[np.int32]:
        """Take a training set, and return that many bootstrap draws of it; none if the number is None.

        With `groups`, one value for each row, whole groups are drawn. ``draw(labels, n_resamples, rng, groups)`` makes
        the draws; None takes the ordinary ones.
        """
        size = 0 if n_resamples is None else check_resamples(n_resamples, count_rows(X))
        labels = check_labels(y, classes)
        check_lengths(count_rows(X), labels.size)
        check_index(X, y)
        y_known = classes[(labels > 0.0).astype(int)]
        self._groups = groups
        self.sample = TrainingSet(X, y_known, labels, classes, check_groups(groups, labels))
        counts = np.zeros((0, self.sample.n_samples), dtype=np.int32)
        if size:
            counts = (
                draw_counts(self.sample.n_samples, size, self.rng, self.sample.groups)
                if draw is None
                else draw(labels, size, self.rng, self.sample.groups)
            )
        if not hasattr(self, "streams"):
            self.spawn()
        return counts

    def spawn(self) -> None:
        """Spawn the streams of random numbers, where they are needed before there is a sample."""
        self.streams = spawn_streams(self.rng)

    def run_facts(self, event_class: int = 1) -> dict[str, Any]:
        """Return what the notes under a table say of the data and the run, by the names of the fields of `Run`."""
        sample = self.sample
        event, classes = sample.labels > 0.0, sample.classes
        if event_class == 0:
            event, classes = ~event, classes[::-1]
        return describe_data(sample.X, event, classes, self.seed, self.asked.options)

    def prepare(
        self,
        methods: Sequence[Named],
        resampling: Resampling,
        *,
        refused: dict[str, str] | None = None,
        design: Design | None = None,
    ) -> ResamplingPlan:
        """Plan what has to be recorded for some of the methods.

        Methods that would take groups of rows apart are put into `refused`, with the reason, and left out of the plan;
        if that is None they are an error. What a method needs may depend on `design`, the matrix of the classifier.

        Raises
        ------
        ValueError
            If a parameter is of the wrong kind, if no method reads what `cv` or `test_set` gives, or if a method would
            take groups of rows apart.
        """
        sizes, on_single_class = check_sizes(resampling.sizes), resampling.on_single_class
        groups, has_test_set = self.sample.groups, resampling.test_set is not None
        if on_single_class is not None:
            check_choice("on_single_class", on_single_class, POLICIES)
        splits = self._splits(methods, resampling.cv, sizes)
        if splits is not None and resampling.cv is not None:
            check_use(methods, splits.fills)
        if groups is not None:
            methods = unless_torn(methods, splits, has_test_set, refused)
        self._design = design
        needs = frozenset[str]().union(*map(self.needs_of, methods))
        if has_test_set:
            needs -= {"test_set"}
        if splits is not None and "splits" in needs:
            # variances taken from halves or replicates of the data are those of a mean over as many and as large
            # splits
            n_splits, test_fraction = max(2, len(splits.test)), float(splits.test.mean())
            sizes = replace(sizes, n_splits=n_splits, test_fraction=test_fraction)
        policy = cast("Policy | None", on_single_class)
        self.plan = ResamplingPlan(needs, resampling.n_inner, sizes, policy, splits)
        if resampling.test_set is not None:
            self.new_cases = check_test_set(resampling.test_set, self.sample.classes, self.methods)
            self.test_remarks = self._look_for_training_rows(*self.new_cases)
        return self.plan

    def _splits(self, methods: Iterable[Named], cv: Any, sizes: ResamplingSizes) -> Splits | None:
        """Return the splits of the caller, or folds of whole groups where rows have groups and a method reads folds."""
        sample = self.sample
        if cv is None and sample.groups is not None and any(method.needs & FROM_SPLITS for method in methods):
            cv = GroupKFold(min(sizes.n_folds, sample.groups.n_groups))
        if cv is None:
            return None
        return make_splits(cv, sample.X, sample.y, self._groups, self.streams["cv"].spawn(1)[0])

    def given_records(self, estimator: Any) -> Records:
        """Return the losses of a fitted classifier on its training set and, if there are any, on new cases."""
        sample = self.sample
        records = replace(
            training_records(estimator, sample.X, sample.y, sample.labels), groups=sample.groups
        )
        if self.new_cases is None:
            return records
        X_test, y_test = self.new_cases
        wrong = np.asarray(estimator.predict(X_test) != y_test)
        event = np.asarray(y_test == sample.classes[1])
        tested = TestSetLosses(
            wrong, sample.n_samples, estimand="conditional", event=event, remarks=self.test_remarks
        )
        return replace(records, test_set=tested)

    def _look_for_training_rows(self, X_test: Any, y_test: NDArray[Any]) -> tuple[str, ...]:
        """Warn of test cases that equal training rows; return that as a remark."""
        n_equal = count_equal_rows(X_test, y_test, self.sample.X, self.sample.y)
        if not n_equal:
            return ()
        remark = f"{n_equal} of {len(y_test)} test cases equal training rows"
        message = (
            f"{remark}, in every feature and in the label; the error on them says little of new cases. Leave them out "
            "of 'test_set', unless features have so few values that new cases equal old ones by chance."
        )
        warnings.warn(TrainingRowsWarning(message, n_equal=n_equal, n_tested=len(y_test)), stacklevel=4)
        return (remark,)

    def refit(
        self,
        refits: Refits,
        counts: NDArray[np.int32],
        advance: Callable[[int], object],
        plan: ResamplingPlan | None = None,
    ) -> dict[str, Any]:
        """Make the refits of the plan, or of the part of it that is given; return fields of `Records`."""
        return record_refits(
            self.plan if plan is None else plan,
            refits,
            self.sample.labels,
            counts,
            streams=self.streams,
            advance=advance,
            failed=self.failed,
            groups=self.sample.groups,
        )

    def rows(
        self,
        kind: type[OneRow],
        compute: Callable[[Named], OneRow],
        *,
        refused: Mapping[str, str] = MappingProxyType({}),
        failed: Callable[[Named], Mapping[str, Exception]] | None = None,
        **known: Any,
    ) -> tuple[OneRow, ...]:
        """Return one row per method. One that fails keeps its row, with the reason: those of the others took refits.

        Parameters
        ----------
        kind : type
            The class of the rows.
        compute : callable
            ``compute(method)`` returns the row.
        refused : mapping of str to str, default={}
            Why methods were left out, by their names.
        failed : callable, default=None
            ``failed(method)``: which records could not be made; None takes those of the session for every method.
        **known
            Further fields of rows without numbers.

        Raises
        ------
        Exception
            The first one, if no method has a row of its own.
        """

        def unavailable(method: Named, reason: str) -> OneRow:
            return kind.of(
                kind.undefined(reason), method=method.name, estimand=method.estimand, n_fits=0, **known
            )

        rows: list[OneRow] = []
        errors: list[Exception] = []
        n_computed = 0
        for method in self.methods:
            if method.name in refused:
                rows.append(unavailable(method, refused[method.name]))
                continue
            try:
                _raise_failed(method.needs, self.failed if failed is None else failed(method))
                rows.append(compute(method))
                n_computed += 1
            except Warning:
                raise
            except Exception as error:
                errors.append(error)
                reason = " ".join(str(error).split())
                rows.append(unavailable(method, f"could not be computed: {type(error).__name__}: {reason}"))
        if errors and not n_computed:
            raise errors[0]
        return tuple(rows)


def check_sizes(sizes: object) -> ResamplingSizes:
    """Return the sizes, or the defaults for None; raise ValueError if they are something else."""
    if sizes is None:
        return ResamplingSizes()
    if not isinstance(sizes, ResamplingSizes):
        raise ParameterError("sizes", "a ResamplingSizes or None", sizes)
    return sizes


def _raise_failed(needs: frozenset[str], failed: Mapping[str, Exception]) -> None:
    """Raise why a record that a method needs could not be made."""
    for need in sorted(needs & failed.keys()):
        raise failed[need]
