"""Comparison of classifiers, or learning algorithms, on matched splits of the same data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline

from cudbound.adapters.model import facts_of, many_features
from cudbound.adapters.parts import RecordedOutputs, describe_classifier, procedure_in_words, splits_rows
from cudbound.analysis.analyze import analyze, fitted_sample
from cudbound.analysis.question import Question, check_new_cases
from cudbound.analysis.rows import compute_rows
from cudbound.analysis.table import ComparisonTable
from cudbound.basis import exceptions
from cudbound.basis.calls import bar_of_refits, public_call, warn
from cudbound.basis.method_card import Needs
from cudbound.basis.results import UNDEFINED_LIMITS, ComparisonResult
from cudbound.basis.sample import Sample, predicted_labels, related_rows
from cudbound.basis.validation import Features, Learner, check_choice
from cudbound.intervals import DEFAULT_COMPARISONS, AskedMethod, Method, find_comparisons, find_methods
from cudbound.intervals.comparisons import OWN_TEST_SETS, SECOND
from cudbound.intervals.method import adjusted, check_alternative, compute_comparison
from cudbound.metrics.metric import AUC
from cudbound.metrics.metrics import check_name
from cudbound.metrics.views import on_common_draws
from cudbound.point_estimates.auc import NO_DRAW_OF_BOTH
from cudbound.records import Records, TestSetLosses
from cudbound.report.sentences import few_test_cases
from cudbound.report.tables import Run
from cudbound.resampling import Resampling
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.failed_refits import naming_the_step
from cudbound.resampling.make_records import INNER_DRAWS, Errors, RecordingInputs, count_refits, make_records
from cudbound.resampling.refits import difference, refits_of, remembered


@public_call
def compare_learners(
    learners: Mapping[str, Learner | str] | Sequence[Learner | str],
    X: Features,
    y: ArrayLike,
    *,
    methods: AskedMethod | Sequence[AskedMethod] | None = None,
    metric: str = "error",
    reference: str | None = None,
    null: float = 0.0,
    groups: ArrayLike | None = None,
    new_cases: tuple[Features, ArrayLike] | None = None,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
    n_resamples: int = 1000,
    resampling: Resampling | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> ComparisonTable:
    """Test whether learning algorithms, or fitted classifiers, have the same error, or the same AUC.

    The procedure:

    1. draw the splits that the methods need, the same for all learners;
    2. fit each learner once to every training set, and for each pair record the loss of `a` minus that of `b` on every
       tested row;
    3. test whether the mean difference is 0, and compute an interval for it.

    With more than one pair, each method also reports two adjustments for the number of pairs m:

    - p-values by Holm's procedure: the probability of rejecting one or more true hypotheses of equal errors is at most
      1 - `confidence_level`;
    - intervals at level 1 - (1 - `confidence_level`) / m (Bonferroni), which cover all differences simultaneously with
      probability `confidence_level`.

    Both hold for any dependence between the pairs, provided that the method itself is valid. Holm's procedure is more
    powerful, and may reject when the interval contains 0.

    Parameters
    ----------
    learners : mapping of str to object, or sequence of objects
        Two or more scikit-learn classifiers by name; unnamed ones get the name of their class, numbered if it repeats.
        Clones are fitted to the training sets, so they need not be fitted; with `new_cases`, fitted ones are used as
        they are. The word "majority" stands for a classifier that always predicts the majority class of its training
        set; a remark reports if there is no evidence that the other classifier beats it.
    X : array-like, shape (n_samples, n_features)
    y : array-like, shape (n_samples,)
        Labels of two classes, at least two rows of each.
    methods : str, (str, mapping) or list of them, default=None
        Names of comparisons in `cudbound.available_methods`, or "all" of them. None uses "repeated-k-fold-t", or
        for the AUC "auc-difference", the only method there. A pair of a name and a mapping sets options, such as
        ``("grandvalet-bengio-t", {"rho": 0.5})``. The ``estimand`` of a row tells whether the error of the algorithm or
        of one fit is compared. The alternatives "less" and "greater" are not possible for tests without a direction.
    metric : {"error", "auc"}, default="error"
        For the AUC, replace error(a) - error(b) by AUC(a) - AUC(b) in this text. Both classifiers are refitted on the
        same bootstrap draws, and no splits are made.
    reference : str, default=None
        Name of the learner with which every other is compared, as the second of each pair; None compares all pairs.
    null : float, default=0.0
        Margin, in (-1, 1): the smallest difference that would matter. With "less" and a positive margin, the test is
        one of non-inferiority; for the AUC, with "greater" and a negative one. Methods without a standard error
        ("5x2cv-f", "grandvalet-bengio-t", "mcnemar", "independent-test-sets") allow only 0.
    groups : array-like, shape (n_samples,), default=None
        Which rows belong together, such as those of one patient: folds keep them together. Without ``cv``, methods
        based on folds or splits use folds of whole groups; methods that would split groups raise ValueError.
    new_cases : (array-like, array-like), default=None
        New cases (X_new, y_new) for "mcnemar" and "single-split-t".
    confidence_level : float, default=0.95
        Nominal level of the intervals, in (0, 1).
    alternative : {"two-sided", "less", "greater", "equivalent"}, default="two-sided"
        "less": error(a) - error(b) is below `null`, with an upper limit for the difference only; "greater": it is above
        `null`; "equivalent": it is between ``-null`` and `null`, by two one-sided tests, with an interval at
        ``2 * confidence_level - 1``.
    n_resamples : int, default=1000
        Bootstrap draws for the AUC; no effect for the error.
    resampling : Resampling, default=None
        Your own splits, numbers of folds, splits and repetitions, and the treatment of training sets of one class.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None uses a new one.
    n_jobs : int or None, default=1
        Workers; -1 for all cores. The result does not depend on it.

    Returns
    -------
    ComparisonTable
        One row for each method and pair, with ``a`` and ``b``, the names of the two, ``estimate`` (the error of `a`
        minus that of `b`), ``statistic``, ``pvalue``, ``confidence_interval``, ``estimand``, ``degenerate`` and
        ``details``; with several pairs also ``adjusted_pvalue`` and ``simultaneous_interval``. A table of one pair and
        one method has the first four as attributes, and its ``row``. A method that cannot be computed keeps its row,
        with the reason; if no method of a pair can be computed, the first error is raised.

    Raises
    ------
    ValueError
        If there are fewer than two learners, the reference is not one of them, or an argument is out of range.

    Warns
    -----
    ManyFeaturesWarning, RepeatedRowsWarning, SmallSampleWarning
        As in `cudbound.compare_intervals`.

    Notes
    -----
    The same arguments and the same integer `rng` give the same result, for any `n_jobs`. A pair has the same numbers as
    when compared alone, if all learners or none are refitted in batches. Exchanging two learners only changes the sign
    of the estimate, except with "independent-test-sets", which tests the first classifier on one part of the held-out
    rows and the second on the other. Losses without variance never reject: the p-value is then 1, and ``degenerate``
    gives the reason. If their difference is not `null`, the statistic is nan and the limits are -1 and 1.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281; Dietterich,
    T. G. (1998). Approximate statistical tests for comparing supervised classification learning algorithms. Neural
    Computation 10, 1895-1923; Grandvalet, Y. and Bengio, Y. (2006). Hypothesis testing for cross-validation; Holm, S.
    (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from cudbound import LeastSquaresClassifier, compare_learners
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> y = X[:, 0] + rng.normal(size=60) > 0
    >>> found = compare_learners([LeastSquaresClassifier(), "majority"], X, y, rng=0)
    >>> found.estimate < 0, str(found.row.estimand)
    (True, 'expected(n1=54)')
    >>> learners = {"squares": LeastSquaresClassifier(), "ridge": RidgeClassifier(), "majority": "majority"}
    >>> table = compare_learners(learners, X, y, reference="majority", rng=0)
    >>> [(row.a, row.b, round(row.adjusted_pvalue, 2)) for row in table]
    [('squares', 'majority', 0.18), ('ridge', 'majority', 0.18)]
    """
    named = name_learners(learners)
    pairs = find_pairs(list(named), reference)
    compared = check_choice("metric", check_name(metric), DEFAULT_COMPARISONS)
    question = Question.of(
        find_comparisons(DEFAULT_COMPARISONS[compared] if methods is None else methods),
        metric=compared,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        resampling=resampling,
        rng=rng,
        n_jobs=n_jobs,
    )
    check_alternative(alternative, question.methods, null, confidence_level)  # before the refits
    # copies of the streams: all learners that are not fitted get the same seed
    samples = {
        name: fitted_sample(learner, X, y, deepcopy(question.streams), groups, what=f"learner {name!r}")
        for name, learner in named.items()
    }
    comparison = Comparison(question, samples, pairs, alternative, null)
    if compared != AUC.name:
        return comparison.table(*comparison.record(new_cases))
    if new_cases is not None:
        rule = "None for the AUC, which would otherwise be compared only on new cases"
        raise exceptions.ParameterError("new_cases", rule, "a test set")
    return comparison.table(*comparison.record_scores())


class PairLosses(NamedTuple):
    """The records of two learners.

    Attributes
    ----------
    differences : Records
        Losses of the first minus those of the second; for the AUC the scores of both.
    own : Records
        Losses of each on its own test cases, which are not differences.
    failed : dict of RecordKind to Exception
        Why records could not be made.
    """

    differences: Records
    own: Records
    failed: Errors


@dataclass(frozen=True, eq=False)
class Comparison:
    """The question about pairs of learners, each fitted to the same training set."""

    question: Question[Method]
    samples: Mapping[str, Sample]
    pairs: Sequence[tuple[str, str]]
    alternative: str
    null: float

    @property
    def sample(self) -> Sample:
        """The training set, with the first learner."""
        return next(iter(self.samples.values()))

    def record(self, new_cases: Any) -> tuple[dict[str, str], list[PairLosses]]:
        """Fit each learner once to every training set; return why methods are not possible, and the losses of pairs.

        All pairs share the same random numbers, and so the same splits and seeds.
        """
        question, pairs, sample = self.question, self.pairs, self.sample
        tested = {} if new_cases is None else check_new_cases(new_cases, sample, question.methods)
        inputs = RecordingInputs.of(
            sample,
            question.needs(),
            question.streams,
            question.resampling,
            counts=np.zeros((0, sample.n_samples), dtype=np.int32),
            n_jobs=question.n_jobs,
            **tested,
        )
        refused = question.refusals(inputs)
        # losses on two test sets are not differences
        of_each = {method.name for method in question.methods if OWN_TEST_SETS in method.needs}
        needs = question.needs({*refused, *of_each}) | (question.needs(refused) & {OWN_TEST_SETS})
        refits = {name: refits_of(sample, question.n_jobs) for name, sample in self.samples.items()}
        batched = all(learner.batched for learner in refits.values())
        sides = [set(side) for side in zip(*pairs, strict=True)]
        n_own_fits = sum(map(len, sides)) if OWN_TEST_SETS in needs else 0
        n_fits = len(set().union(*sides)) * count_refits(needs, inputs) + n_own_fits
        with bar_of_refits(n_fits) as advance:
            kept = {name: remembered(name, learner, batched, advance) for name, learner in refits.items()}
            of_pairs = [
                self._record_pair(
                    needs,
                    replace(
                        inputs,
                        streams=deepcopy(question.streams) if len(pairs) > 1 else question.streams,
                        given_refits=difference(kept[a], kept[b]),
                        refits_of_each=(kept[a], kept[b]),
                    ),
                    (a, b),
                )
                for a, b in pairs
            ]
        return refused, of_pairs

    def _record_pair(self, needs: Needs, inputs: RecordingInputs, pair: tuple[str, str]) -> PairLosses:
        records: dict[str, Any] = {"groups": self.sample.groups}
        if inputs.test_set is not None:
            X_new, y_new = inputs.test_set
            wrong = []
            for name in pair:
                learner = self.samples[name].estimator
                with naming_the_step(learner, f"learner {name!r} on the new cases"):
                    predicted = predicted_labels(learner, X_new, self.sample.classes)
                wrong.append((predicted != y_new).astype(np.int8))
            records["test_set"] = TestSetLosses(
                wrong[0] - wrong[1],
                self.sample.n_samples,
                estimand="conditional",
                remarks=inputs.test_remarks,
                event=y_new == self.sample.classes[1],
            )
        failed: Errors = {}
        records_by_name = make_records(needs, inputs, records, failed)
        of_each = records_by_name.pop(OWN_TEST_SETS.name, (None, None))
        tested = Records(test_set=of_each[0], second_test_set=of_each[1])
        return PairLosses(Records.of(**records_by_name), tested, failed)

    def record_scores(self) -> tuple[dict[str, str], list[PairLosses]]:
        """Refit each classifier on the same draws; return why methods are not possible, and the scores of pairs.

        Raises
        ------
        ValueError
            If the caller gives splits, which nothing uses, a classifier has no scores, or the orders of classes differ.
        """
        resampling, scores = self.question.resampling, dict[str, Records]()
        if resampling.cv is not None:
            rule = "None for the AUC, which is computed from bootstrap draws"
            raise exceptions.ParameterError("cv", rule, resampling.cv)
        for sample in self.samples.values():  # one without scores is refused before the refits of others
            RecordedOutputs(("scores",)).of(sample.estimator, sample.X)
        orders = {name: sample.classes.tolist() for name, sample in self.samples.items()}
        first, *others = orders.values()
        if any(order != first for order in others):
            raise ValueError(
                f"For the AUC, all learners must have the labels in the same order in classes_. Got {orders}; sort the "
                "labels in fit, and return the columns of predict_proba in this order."
            )
        # both are refitted to the same rows, and each by itself would decide about the draws in its own way
        copies, inner = resampling.copies, resampling.inner
        if copies is None:
            copies = not any(splits_rows(sample.estimator) for sample in self.samples.values())
        if inner is None and copies:  # without copies no classifier has inner draws
            inner = INNER_DRAWS
        resampling = replace(
            resampling, copies=copies, on_single_class=resampling.on_single_class or "redraw", inner=inner
        )
        seed = int(self.question.rng.integers(2**63))
        for name, sample in self.samples.items():
            # the center of one AUC reads the records that the difference reads
            question = Question.of(
                find_methods("two-center"),
                metric=AUC.name,
                n_resamples=self.question.n_resamples,
                resampling=resampling,
                rng=np.random.default_rng(seed),
                n_jobs=self.question.n_jobs,
            )
            try:
                analysis = analyze(question, sample.estimator, sample.X, sample.y, sample.names_of_groups)
                analysis.rows()  # raises the error of records that could not be made
            except exceptions.FailedRefitsError as error:
                raise exceptions.FailedRefitsError(f"Learner {name!r}: {error.fact}", error.remedy) from error
            ((_, scores[name]),) = analysis.of_targets
        if any(records.bootstrap is None for records in scores.values()):
            refused = {method.name: NO_DRAW_OF_BOTH for method in self.question.methods}
            return refused, [PairLosses(Records(), Records(), {}) for _ in self.pairs]
        return {}, [PairLosses(pair_of_scores(scores[a], scores[b]), Records(), {}) for a, b in self.pairs]

    def table(self, refused: Mapping[str, str], of_pairs: Sequence[PairLosses]) -> ComparisonTable:
        """Return the rows of all pairs, with their notes, and issue the reasons for caution as warnings."""
        question = self.question
        rows = adjusted([self._rows(refused, *each) for each in zip(of_pairs, self.pairs, strict=True)])
        internal = any(row.n_fits > 0 for row in rows)  # test cases take no fits
        of_draws = any(BOOTSTRAP in method.needs for method in question.methods)
        sample = self.sample
        related = related_rows(sample.X, sample.events, sample.groups, sample.sample_weight)
        of_learners = [
            exceptions.ManyFeaturesWarning(f"{name}: {caution}")
            for name, each in self.samples.items()
            for caution in many_features(facts_of(each.estimator, each), "comparison")
        ]
        run = Run(
            **sample.facts,
            cautions=(*related, *of_learners) if internal else (),
            seed=question.seed,
            choices=question.choices,
            n_resamples=question.n_resamples if of_draws else None,
            classifiers={name: describe_classifier(each.estimator) for name, each in self.samples.items()},
            procedures={name: procedure_in_words(each.estimator) for name, each in self.samples.items()},
        )
        for caution in (*few_test_cases(rows), *run.cautions):
            warn(caution)
        return ComparisonTable(rows, run)

    def _rows(
        self, refused: Mapping[str, str], losses: PairLosses, pair: tuple[str, str]
    ) -> tuple[ComparisonResult, ...]:
        """Return the row of each method for one pair."""
        (a, b), n_pairs = pair, len(self.pairs)
        level, methods = self.question.confidence_level, self.question.methods
        (metric,) = self.question.metrics.names
        levels = (level,) if n_pairs == 1 else (level, 1.0 - (1.0 - level) / n_pairs)

        def compute(method: Method) -> ComparisonResult:
            records = losses.own if OWN_TEST_SETS in method.needs else losses.differences
            options = methods.options_of(method)
            row, *joint = (
                compute_comparison(method, records, each_level, self.alternative, options, null=self.null)
                for each_level in levels
            )
            simultaneous = joint[0].confidence_interval if joint else None
            row = replace(row, a=a, b=b, metric=metric, simultaneous_interval=simultaneous)
            return with_majority_remark(row, self.samples[a].estimator, self.samples[b].estimator)

        return compute_rows(
            ComparisonResult,
            methods,
            compute,
            methods.needed,
            refused=refused,
            failed=losses.failed,
            confidence_level=level,
            alternative=self.alternative,
            null=self.null,
            metric=metric,
            a=a,
            b=b,
            simultaneous_interval=None if n_pairs == 1 else UNDEFINED_LIMITS,
        )


def pair_of_scores(first: Records, second: Records) -> Records:
    """Return the scores of two classifiers as one record, from the draws on which both could be refitted."""
    draws, other_draws = on_common_draws(first.require(BOOTSTRAP), second.require(BOOTSTRAP))
    return replace(first, bootstrap=draws).with_record(SECOND, replace(second, bootstrap=other_draws))


#: The word for it, instead of a classifier.
MAJORITY = "majority"


def with_majority_remark(row: ComparisonResult, a: Any, b: Any) -> ComparisonResult:
    """Return a comparison, with a remark if there is no evidence that a learner beats the majority class."""
    a_is_tested, b_is_tested = says_majority(b), says_majority(a)
    if a_is_tested == b_is_tested or _beats(row, a_is_better=a_is_tested):
        return row
    name = row.a if a_is_tested else row.b
    return replace(row, remarks=(*row.remarks, f"no evidence that {name} beats the majority class"))


def says_majority(learner: Any) -> bool:
    """Whether a learner always predicts the more frequent class of its training set."""
    last = learner.steps[-1][1] if isinstance(learner, Pipeline) else learner
    return isinstance(last, DummyClassifier) and last.strategy in ("most_frequent", "prior")


def _beats(row: ComparisonResult, a_is_better: bool) -> bool:
    """Whether the interval, or else the test, shows that `a` is better, or that `b` is."""
    smaller = a_is_better == (row.metric == "error")  # a larger AUC is better
    low, high = (row.low, row.high) if smaller else (-row.high, -row.low)
    if not math.isnan(low + high):
        return high < 0.0
    estimate = row.estimate if smaller else -row.estimate
    direction = {"two-sided", "less" if smaller else "greater"}
    return row.alternative in direction and estimate < 0.0 and row.pvalue <= 1.0 - row.confidence_level


def name_learners(learners: Any) -> dict[str, Any]:
    """Return learners by name; unnamed ones get the name of their class, numbered if it repeats.

    Raises
    ------
    ValueError
        If there are fewer than two, or they are not classifiers.
    """
    if isinstance(learners, Mapping):
        named = dict(learners)
    elif isinstance(learners, Sequence) and not isinstance(learners, str):
        names = [learner if isinstance(learner, str) else type(learner).__name__ for learner in learners]
        named = {
            name if names.count(name) == 1 else f"{name}-{names[: place + 1].count(name)}": learner
            for place, (name, learner) in enumerate(zip(names, learners, strict=True))
        }
    else:
        named = {}
    if len(named) < 2 or not all(isinstance(name, str) for name in named):
        raise exceptions.ParameterError(
            "learners", "at least two classifiers, in a list or by name", learners
        )
    for name, learner in named.items():
        if isinstance(learner, str):
            if learner != MAJORITY:
                raise exceptions.ParameterError("learners", f"classifiers or the word {MAJORITY!r}", learner)
            named[name] = DummyClassifier(strategy="most_frequent")
    return named


def find_pairs(names: list[str], reference: str | None) -> list[tuple[str, str]]:
    """Return all pairs of names, or the pairs of each learner with the reference."""
    if reference is None:
        return list(combinations(names, 2))
    check_choice("reference", reference, names)
    return [(name, reference) for name in names if name != reference]
