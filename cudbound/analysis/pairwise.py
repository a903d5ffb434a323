"""More than two learners: every pair, or each against a reference, on the same splits, adjusted for their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cudbound.adapters.in_words import describe_classifier
from cudbound.analysis.compare_learners import (
    OWN_TEST_SETS,
    common_classes,
    differences_on_new_cases,
    fit_learners,
)
from cudbound.analysis.majority import find_learner, with_majority_remark
from cudbound.analysis.progress import progress_bar
from cudbound.analysis.session import Resampling, Session
from cudbound.analysis.table import ComparisonTable
from cudbound.basis.hints import suggestion
from cudbound.basis.outcomes import ConfidenceInterval
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.pictured import Pictured
from cudbound.basis.protocols import Features, Learner, Splits
from cudbound.basis.results import ComparisonResult
from cudbound.basis.validation import check_confidence_level
from cudbound.intervals import METHODS, find_comparisons
from cudbound.intervals.difference import check_alternative, compute_comparison
from cudbound.intervals.multiplicity import holm_adjusted
from cudbound.records import Records
from cudbound.report.description import Description
from cudbound.report.pairwise_columns import describe_pairs, pairwise_report
from cudbound.report.table_style import FULL, NO_TITLES, Style, styled
from cudbound.report.tables import PairsRun, Report, Run
from cudbound.report.tabular import Tabular
from cudbound.resampling import ResamplingSizes
from cudbound.resampling.plan import record_refits
from cudbound.resampling.refits import difference, prepare_refits, remembered

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.forest import ComparisonDisplay


@dataclass(frozen=True)
class Pair:
    """Two of several learners.

    Attributes
    ----------
    a, b : str
        Their names.
    comparison : ComparisonResult
        As if there were no others.
    adjusted_pvalue : float
        The p-value, adjusted for all pairs by Holm's procedure.
    simultaneous_interval : ConfidenceInterval
        For error(a) - error(b), clipped to [-1, 1]; those of all pairs hold together at the level.
    """

    a: str
    b: str
    comparison: ComparisonResult
    adjusted_pvalue: float
    simultaneous_interval: ConfidenceInterval

    def to_record(self) -> dict[str, Any]:
        """Return the columns of a frame, unrounded."""
        low, high = self.simultaneous_interval.low, self.simultaneous_interval.high
        names = {"a": self.a, "b": self.b, "adjusted_pvalue": self.adjusted_pvalue}
        return names | {"simultaneous_low": low, "simultaneous_high": high} | self.comparison.to_record()


@dataclass(frozen=True, repr=False)
class PairTable(Tabular, Pictured["ComparisonDisplay"]):
    """Pairs of several learners, on the same splits.

    Attributes
    ----------
    pairs : tuple of Pair
    learners : mapping of str to str
        What they are, by their names.
    run : Run or None
        The data and the splits, as far as they are known; for the notes.
    """

    pairs: tuple[Pair, ...]
    learners: Mapping[str, str]
    run: Run | None = field(default=None, compare=False)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, names: tuple[str, str]) -> Pair:
        for pair in self.pairs:
            if (pair.a, pair.b) == names:
                return pair
        raise KeyError(
            f"no pair {names!r} in this table; it has {[(pair.a, pair.b) for pair in self.pairs]}."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one unrounded row per pair: names, adjusted p-value, simultaneous limits, and the comparison."""
        import pandas as pd

        return pd.DataFrame([pair.to_record() for pair in self.pairs])

    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return the table with the title and the notes that must stand around it."""
        first = self.pairs[0].comparison
        records = [pair.to_record() for pair in self.pairs]
        report = pairwise_report(records, first, self.learners, self.to_frame, run or self.run)
        return styled(report, self._rows, style, NO_TITLES)

    def describe(self) -> Description:
        """Return words for a paper: methods, results, versions and seed, and what to cite, in BibTeX."""
        first = self.pairs[0].comparison
        records = [pair.to_record() for pair in self.pairs]
        card = METHODS[first.method]
        return describe_pairs(records, first, self.learners, self.run, card.title, card.reference)

    def display(self) -> ComparisonDisplay:
        """Return the picture of the simultaneous intervals of the pairs, beside equal errors; `plot` draws it."""
        from cudbound.plotting.forest import ComparisonDisplay

        return ComparisonDisplay.from_table(ComparisonTable(self._rows, self.run))

    @property
    def _rows(self) -> tuple[ComparisonResult, ...]:
        """The comparisons under the names of their pairs, with the simultaneous limits."""
        return tuple(
            replace(pair.comparison, method=f"{pair.a} - {pair.b}", raw_interval=pair.simultaneous_interval)
            for pair in self.pairs
        )


def compare_many_learners(
    learners: Mapping[str, Learner] | Sequence[Learner],
    X: Features,
    y: ArrayLike,
    *,
    reference: str | None = None,
    method: str = "corrected-resampled-t",
    confidence_level: float = 0.95,
    options: Mapping[str, Any] | None = None,
    sizes: ResamplingSizes | None = None,
    cv: Splits | None = None,
    groups: ArrayLike | None = None,
    test_set: tuple[Features, ArrayLike] | None = None,
    on_single_class: str | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    progress: bool | None = None,
) -> PairTable:
    """Compare several learning algorithms, or fitted classifiers, on the same splits.

    Each learner is fitted once to each training set, and every pair is compared by `method`, as
    `cudbound.compare_learners` compares two. Two adjustments for the number m of pairs stand beside each other:

    - p-values by Holm's procedure: the probability that one or more true hypotheses of equal errors are rejected is at
      most 1 - `confidence_level`;
    - intervals at the level 1 - (1 - `confidence_level`) / m (Bonferroni), which cover all differences at once with
      probability `confidence_level`.

    Both hold whatever the dependence between the pairs, as far as `method` keeps its own level. Holm's procedure may
    reject where the interval holds 0: it is the more powerful of the two.

    Parameters
    ----------
    learners : mapping of str to object, or sequence of objects
        At least two classifiers of scikit-learn, fitted or not, by names; without names they get that of their class,
        with a number where it repeats. "majority" is the one that always says the majority class.
    X : array-like, shape (n_samples, n_features)
    y : array-like, shape (n_samples,)
    reference : str, default=None
        Name of the learner that each other is compared with, as the second of the two; None compares all pairs.
    method : str, default="corrected-resampled-t"
        One of those that `cudbound.available_methods` lists as comparisons, but for "independent-test-sets".
    confidence_level : float, default=0.95
        Of all intervals together, in (0, 1).
    options : mapping, default=None
        Options of the method.
    sizes, cv, groups, test_set, on_single_class, rng, n_jobs, progress
        As for `cudbound.compare_learners`. With the same `rng` a pair has the numbers that it has there, where all
        learners are refitted in batches, or none is.

    Returns
    -------
    PairTable
        Prints as a table, and has ``to_frame()``; ``table["svm", "tree"]`` is one pair.

    Raises
    ------
    ValueError
        If there are fewer than two learners, the reference is none of them, or an argument is out of range.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6,
    65-70.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from cudbound import LeastSquaresClassifier, compare_many_learners
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> learners = {"majority": DummyClassifier(), "ridge": RidgeClassifier(), "squares": LeastSquaresClassifier()}
    >>> table = compare_many_learners(learners, X, X[:, 0] > 0, reference="majority", rng=0)
    >>> [(pair.a, pair.b, pair.adjusted_pvalue < 0.05) for pair in table]
    [('ridge', 'majority', True), ('squares', 'majority', True)]
    """
    named = _named(learners)
    pairs = _pairs(list(named), reference)
    asked = find_comparisons([method])
    (chosen,) = methods = asked.methods
    if OWN_TEST_SETS in chosen.needs:
        raise ParameterError("method", "one that tests all learners on the same cases", method)
    level = check_confidence_level(confidence_level)
    check_alternative("two-sided", methods)
    given = None if options is None else {method: options}
    session = Session(asked.with_options(given), rng=rng, n_jobs=n_jobs)
    fitted = dict(zip(named, fit_learners(session, named.values(), X, y), strict=True))
    none_drawn = session.take(X, y, common_classes(list(fitted.values())), groups=groups)
    plan = session.prepare(methods, Resampling(sizes, on_single_class, cv, test_set))
    sample = session.sample
    refits = {name: prepare_refits(one, X, sample.y, n_jobs=session.n_jobs) for name, one in fitted.items()}
    batched = all(one.batched for one in refits.values())
    tested = {(a, b): differences_on_new_cases(session, fitted[a], fitted[b]) for a, b in pairs}
    results = []
    with progress_bar(len(named) * plan.n_fits(none_drawn), progress) as advance:
        kept = {name: remembered(one, batched, advance) for name, one in refits.items()}
        for a, b in pairs:
            # each pair has the random numbers of the first, and so its splits and seeds
            made = record_refits(
                plan,
                difference(kept[a], kept[b]),
                sample.labels,
                none_drawn,
                streams=deepcopy(dict(session.streams)),
                groups=sample.groups,
            )
            results.append(Records(**made | tested[a, b], groups=sample.groups))
    chosen_options = session.options_of(chosen)
    alone = [
        with_majority_remark(
            compute_comparison(chosen, records, level, options=chosen_options), fitted[a], fitted[b]
        )
        for (a, b), records in zip(pairs, results, strict=True)
    ]
    joint_level = 1.0 - (1.0 - level) / len(pairs)
    together = [
        compute_comparison(chosen, records, joint_level, options=chosen_options).confidence_interval
        for records in results
    ]
    adjusted = holm_adjusted([one.pvalue for one in alone]).tolist()
    rows = zip(pairs, alone, adjusted, together, strict=True)
    described = {name: describe_classifier(learner) for name, learner in named.items()}
    pairs_found = tuple(Pair(*names, one, p, both) for names, one, p, both in rows)
    return PairTable(pairs_found, described, PairsRun(**session.run_facts()))


def _named(learners: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Return the learners by name."""
    if isinstance(learners, Mapping):
        named = dict(learners)
    else:
        kinds = [one if isinstance(one, str) else type(one).__name__ for one in learners]
        named = {
            kind if kinds.count(kind) == 1 else f"{kind}-{kinds[: i + 1].count(kind)}": learner
            for i, (kind, learner) in enumerate(zip(kinds, learners, strict=True))
        }
    if len(named) < 2 or not all(isinstance(name, str) for name in named):
        raise ParameterError("learners", "at least two classifiers, in a list or by their names", learners)
    return {name: find_learner(learner) for name, learner in named.items()}


def _pairs(names: list[str], reference: str | None) -> list[tuple[str, str]]:
    if reference is None:
        return list(combinations(names, 2))
    if reference not in names:
        rule = f"None or one of {', '.join(names)}"
        raise ParameterError("reference", rule, reference, suggestion(reference, names))
    return [(name, reference) for name in names if name != reference]
