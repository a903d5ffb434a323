"""Sample size planning: the planned study is simulated at several sizes, from a pilot or a world."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression
from scipy.stats.mstats import mjci

from cudbound.adapters.parts import describe_classifier
from cudbound.basis import validation
from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.proportions import inverted_cdf_quantile, quantile_rank
from cudbound.basis.results import Pictured
from cudbound.basis.sample import as_table, check_index, count_rows
from cudbound.basis.words import format_level, format_limit, metric_words, printable
from cudbound.intervals import METHODS, find_methods
from cudbound.metrics.metric import METRICS
from cudbound.metrics.metrics import Metrics, as_metrics
from cudbound.report.render import Tabular
from cudbound.report.sentences import Description, cited, software
from cudbound.report.tables import FULL, Column, Report, Run, Style, in_words
from cudbound.resampling.settings import DEFAULT_SIZES, Resampling
from cudbound.study.closed_forms import check_half_width, round_up
from cudbound.study.design_file import find_world
from cudbound.study.population import Population, RealData, check_share
from cudbound.study.runner import run_in_memory
from cudbound.study.scenario import Scenario, Study
from cudbound.study.summary import Summary, summarize_store

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.studies import HalfWidthDisplay

#: Sizes from 20 to 200, where most of the studied cells are.
N_SAMPLES = range(20, 201, 20)
#: Standard errors and quantiles need a minimum; the rows of all samples are in memory at once.
MIN_REPLICATES, MAX_REPLICATES = 10, 100_000
#: Half-width of the uninformative interval from 0 to 1.
NOTHING = 0.5


@public_call
def plan_sample_size(
    estimator: validation.Learner,
    X: validation.Features | str | Population,
    y: ArrayLike | None = None,
    *,
    n_samples: Iterable[int] = N_SAMPLES,
    half_width: float = 0.10,
    probability: float = 0.8,
    method: str | tuple[str, Mapping[str, Any]] = "two-center",
    metric: str | Metrics = "error",
    event: object = None,
    confidence_level: float = 0.95,
    n_replicates: int = 100,
    n_resamples: int = 200,
    resampling: Resampling | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> SampleSizePlan:
    """Plan the number of patients for an interval of a given width, by simulating the study at several sizes.

    At each size, samples are drawn, the classifier is fitted to each, and the interval is computed as in the real
    study. The answer is the smallest number of patients for which the half-width is at most `half_width` with
    probability `probability`.

    Parameters
    ----------
    estimator : object
        Scikit-learn classifier, fitted or not; clones are fitted. It receives labels 0 and 1, where 1 is the event, or
        the second label in order.
    X : array-like, shape (N, n_features), or str, or Population
        Rows of a pilot. Samples are drawn from them with replacement, as if they were the population. The plan
        therefore inherits the chance variation of the pilot, and rows repeat: a classifier looks better on repeated
        rows than on new patients, so sizes are too small, especially those above N. Or the source of samples instead
        of a pilot: the name of a simulated world, such as ``"gaussians"``, or any object with ``name``, ``title`` and
        ``draw``, such as ``cudbound.study.worlds.Gaussians(distance=1.2)``.
    y : array-like, shape (N,), default=None
        Labels of the rows of a pilot, of two classes.
    n_samples : iterable of int, default=range(20, 201, 20)
        Numbers of patients to simulate; at least 4.
    half_width : float, default=0.10
        The target, in (0, 0.5).
    probability : float, default=0.8
        Probability that the half-width is at most `half_width`, in (0, 1).
    method : str or (str, mapping), default="two-center"
        An interval in `cudbound.available_methods`, or a pair (name, options), such as
        ``("bootstrap-percentile", {"quantile": "type-7"})``.
    metric : str or Metrics, default="error"
        "error", "sensitivity" or another metric that needs only its name.
    event : object, default=None
        Label of the event in `y`, as in `cudbound.compare_intervals`; the event of a world is 1.
    confidence_level : float, default=0.95
        In (0, 1).
    n_replicates : int, default=100
        Samples per size, 10 to 100,000. Monte Carlo errors decrease with its square root.
    n_resamples : int, default=200
        Bootstrap draws per interval. Half-widths hardly depend on it, so fewer are enough than for a reported interval.
    resampling : Resampling or None, default=None
        Only its `inner` (None means 50 for the error and "oob" for other metrics) and its numbers are used. Every
        sample has its own splits, and draws of one class and copies of rows are treated as `on_single_class` and
        `copies` do by default; other settings raise ValueError.
    rng : int, numpy.random.Generator or None, default=None
        Source of randomness; None uses a new one. The plan stores its seed, which reproduces it exactly.
    n_jobs : int or None, default=1
        Processes; -1 for all cores. Results do not depend on it.

    Returns
    -------
    SampleSizePlan
        Prints as a table with the answer; has ``n_samples_for``, ``to_frame``, ``plot`` and ``describe``.

    Raises
    ------
    ValueError
        If an argument is out of range, or no sample of some size could be analyzed.
    StudyError
        If the method needs a CUD bound and the classifier has none.

    Notes
    -----
    Samples with fewer than two rows of a class are redrawn and counted. A sample without an interval, or with one of
    width zero, counts as the interval from 0 to 1. Rows that belong together, such as those of one patient, are not
    kept together: plan with one row per patient.

    How many *new* patients are needed to test a classifier that is fitted already is another question, which
    `cudbound.study.closed_form_sample_sizes` answers.

    Examples
    --------
    >>> from cudbound import LeastSquaresClassifier, plan_sample_size
    >>> plan = plan_sample_size(
    ...     LeastSquaresClassifier(), "gaussians", n_samples=(40, 160), n_replicates=10, n_resamples=50, rng=0
    ... )
    >>> 60 < plan.n_samples_for(half_width=0.10, probability=0.8).n < 120
    True
    """
    check_half_width(half_width)
    check_share("probability", probability)
    validation.check_can_be_refitted(estimator)
    validation.check_integer("n_replicates", n_replicates, MIN_REPLICATES, MAX_REPLICATES)
    methods = find_methods([method], argument="method")
    if len(methods.methods) > 1:
        raise ParameterError("method", "the name of one interval, or a pair (name, options)", method)
    metrics = as_metrics(metric, event)
    if len(metrics.names) > 1 or metrics.names[0] not in METRICS:
        raise ParameterError("metric", f"one of {[*METRICS]}", metric)
    methods = methods.that_read(metrics.kinds)
    population = _population(X, y, metrics)
    study = Study(
        name="plan",
        scenarios=(Scenario(population.name, population, estimator, metric=metrics.names),),
        n_samples=tuple(sorted({validation.check_integer("n_samples", n, 4) for n in n_samples})),
        n_replicates=n_replicates,
        methods=methods.methods,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        options=methods.options,
        seed=validation.check_seed(rng),
        resampling=_settings(resampling),
    )
    pilot = None if y is None or not isinstance(population, RealData) else population
    draws = any(kind.of_draws for kind in methods.needed(*methods.reading(metrics.kinds)))
    return SampleSizePlan(
        sizes=_sizes(_run(study, n_jobs), pilot is not None),
        half_width=half_width,
        probability=probability,
        method=study.methods[0],
        metric=metrics.names[0],
        confidence_level=study.confidence_level,
        source=population.title if pilot is None else pilot.words,
        n_pilot=None if pilot is None else pilot.n_cases,
        classifier=describe_classifier(estimator),
        n_resamples=n_resamples if draws else None,
        seed=study.seed,
    )


def _settings(resampling: object) -> Resampling:
    """Return the resampling settings for a study."""
    settings = validation.check_settings("resampling", resampling, DEFAULT_SIZES, 'inner="oob"')
    for name in ("cv", "on_single_class", "copies"):
        if getattr(settings, name) is not None:
            raise ParameterError(name, "None: a plan has many samples", getattr(settings, name))
    return settings


def _population(X: Any, y: ArrayLike | None, metrics: Metrics) -> Population:
    """Return the source of samples."""
    is_world = isinstance(X, str) or all(hasattr(X, name) for name in ("name", "title", "draw"))
    if is_world == (y is not None):
        rule = "None with a world" if is_world else "given with X, as the labels of its rows"
        raise ParameterError("y", rule, y)
    if isinstance(X, str):
        return find_world(X, {})[0]
    world: Population = X if is_world else _pilot(X, y, metrics)
    return world


def _pilot(X: Any, y: Any, metrics: Metrics) -> RealData:
    """Return the rows of a pilot as a population; class 1 is the event of the metrics."""
    check_index(X, y)
    rows, labels = as_table(X), np.asarray(y)
    validation.check_lengths(count_rows(rows), labels.size)
    classes, counts = np.unique(labels, return_counts=True)
    if classes.size != 2 or counts.min() < validation.MIN_ROWS_PER_CLASS:
        sizes = dict(zip(classes.tolist()[:5], counts.tolist()[:5], strict=True))
        raise ParameterError(
            "y", f"of two classes with at least {validation.MIN_ROWS_PER_CLASS} rows each", sizes
        )
    events = (labels == classes[metrics.event_class(classes.tolist())]).astype(np.int64)
    words = f"{labels.size} rows of a pilot with {events.sum()} events, drawn with replacement"
    return RealData("pilot", words, rows, events, "population")


def _run(study: Study, n_jobs: int | None) -> Summary:
    with run_in_memory(study, n_jobs=n_jobs) as store:
        for cell in store.status().cells:
            if cell.n_failed == cell.n_done:
                raise ValueError(f"No sample of {cell.n} patients could be analyzed: {cell.reason}")
        return summarize_store(store)


def _sizes(summary: Summary, is_pilot: bool) -> tuple[PlannedSize, ...]:
    """Return the results at each size; the summary has one method."""
    rows, cells, samples = summary.scores, summary.judged_cells.set_index("n"), summary.samples.set_index("n")
    informative = (rows["width"] > 0.0) & ~rows["degenerate"]
    half_widths = (rows["width"] / 2.0).where(informative, NOTHING)
    names = () if is_pilot else ("coverage", "coverage_mcse")
    return tuple(
        PlannedSize(
            n,
            half_widths[rows["n"] == n].to_numpy(),
            **{name: float(cells[name][n]) for name in names},
            n_without=int((~informative[rows["n"] == n]).sum()),
            n_redrawn=int(samples["n_redrawn"][n]),
        )
        for n in samples.index.tolist()
    )


PILOT_NOTE = (
    "The {n} rows of the pilot stand for all future patients. The range of the required size is the error of the "
    "simulation alone: another pilot of {n} patients can give a very different size. Samples repeat rows, which makes "
    "a classifier look better than on new patients: expect to need more patients than this plan says, especially "
    "beyond the {n} rows of the pilot."
)


@dataclass(frozen=True)
class PlannedSize:
    """The results for samples of one size.

    Attributes
    ----------
    n : int
        Patients.
    half_widths : ndarray of float, shape (n_replicates,)
        Half-widths of the intervals, clipped to [0, 1], in the order of the samples. An interval that is missing or has
        width zero counts as the interval from 0 to 1: 0.5.
    coverage, coverage_mcse : float
        Share of intervals that contain the true value, and its Monte Carlo standard error; nan for a pilot, whose true
        value is unknown.
    n_without : int
        Samples without an interval, or with one of width zero.
    n_redrawn : int
        Samples redrawn because a class had fewer than two cases.
    """

    n: int
    half_widths: validation.Array = field(repr=False)
    coverage: float = math.nan
    coverage_mcse: float = math.nan
    n_without: int = 0
    n_redrawn: int = 0


@dataclass(frozen=True, repr=False)
class SampleSizePlan(Tabular, Pictured["HalfWidthDisplay"]):
    """Half-widths of an interval against the number of patients.

    Attributes
    ----------
    sizes : tuple of PlannedSize
        Ascending.
    half_width, probability : float
        The target: the half-width must not be exceeded with this probability.
    method, metric : str
        The interval and its metric.
    confidence_level : float
    source : str
        The source of the samples, in words.
    n_pilot : int or None
        Rows of the pilot; None for a world.
    classifier : str
        In words.
    n_resamples : int or None
        Bootstrap draws per interval; None if the method uses none.
    seed : int
        Reproduces the plan exactly.
    preparation : tuple of str
        Preparation of the columns of the pilot, in sentences.
    """

    sizes: tuple[PlannedSize, ...]
    half_width: float
    probability: float
    method: str
    metric: str
    confidence_level: float
    source: str
    n_pilot: int | None
    classifier: str
    n_resamples: int | None
    seed: int
    preparation: tuple[str, ...] = ()

    def n_samples_for(self, half_width: float = 0.10, probability: float = 0.8) -> RequiredSampleSize:
        """Return the number of patients for a target half-width, from the simulated sizes.

        Parameters
        ----------
        half_width : float, default=0.10
            In (0, 0.5).
        probability : float, default=0.8
            Probability of not exceeding it, in (0, 1).

        Returns
        -------
        RequiredSampleSize
            Prints as words, such as "87 patients (84 to 91 by the error of the simulation alone)" or "more than 200
            patients". The values at the sizes are made decreasing by isotonic regression, and interpolated linearly in
            1 / sqrt(n).

        Raises
        ------
        ParameterError
            If an argument is out of range.
        """
        check_half_width(half_width)
        check_share("probability", probability)
        half_widths = {size.n: size.half_widths for size in self.sizes}
        return required_size(half_widths, half_width, probability, np.random.default_rng(self.seed))

    @cached_property
    def required(self) -> RequiredSampleSize:
        """The answer for the target of the plan."""
        return self.n_samples_for(self.half_width, self.probability)

    def to_frame(self) -> pd.DataFrame:
        """Return one unrounded row per size.

        Returns
        -------
        pandas.DataFrame
            Columns n, n_replicates, mean_half_width, quantile_half_width (not exceeded by the share `probability` of
            samples, by the inverted distribution function), share_within (share of samples with a half-width of at most
            `half_width`), coverage, each with its Monte Carlo standard error in "_mcse" (that of the quantile by Maritz
            and Jarrett), n_without, n_redrawn, and the settings: method, metric, confidence_level, half_width,
            probability.
        """
        import pandas as pd

        settings = ("method", "metric", "confidence_level", "half_width", "probability")
        frame = pd.DataFrame(map(self._row, self.sizes))
        return frame.assign(**{name: getattr(self, name) for name in settings})

    def _row(self, size: PlannedSize) -> dict[str, Any]:
        half_widths = size.half_widths
        within = float(np.mean(half_widths <= self.half_width))
        return {
            "n": size.n,
            "n_replicates": half_widths.size,
            "mean_half_width": float(half_widths.mean()),
            "mean_half_width_mcse": float(half_widths.std(ddof=1)) / math.sqrt(half_widths.size),
            "quantile_half_width": float(half_width_of(half_widths, self.probability)),
            "quantile_half_width_mcse": float(mjci(half_widths, prob=[self.probability])[0]),
            "share_within": within,
            "share_within_mcse": math.sqrt(within * (1.0 - within) / half_widths.size),
            **{name: value for name, value in vars(size).items() if name not in ("n", "half_widths")},
        }

    def _answer(self, percent: bool) -> str:
        half_width, probability = (
            format_limit(value, percent) for value in (self.half_width, self.probability)
        )
        return (
            f"The {self._interval} has a half-width of at most {half_width} with probability {probability} from "
            f"{self.required} on."
        )

    @property
    def _interval(self) -> str:
        return f"{format_level(self.confidence_level)} interval for the {metric_words([self.metric])} ({self.method})"

    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return the table with its title and notes; there is no `run`."""
        headings = {
            "n": "n",
            "mean_half_width": "expected",
            "mean_half_width_mcse": "(se)",
            "quantile_half_width": f"{format_level(self.probability)} keep to",
            "quantile_half_width_mcse": "(se)",
            "share_within": f"<= {format_limit(self.half_width, style.percent)}",
            "share_within_mcse": "(se)",
            "coverage": "coverage",
        }
        left_out = [key for key in headings if style.style == "paper" and key.endswith("_mcse")]
        left_out += [] if self.n_pilot is None else ["coverage"]
        frame = self.to_frame()
        rows: list[Any] = frame.to_dict("records")
        return Report(
            "sizes",
            f"Half-width of the {self._interval} against the number of patients n",
            tuple(self._notes(style)),
            tuple(
                Column(key, heading, "count" if key == "n" else "proportion")
                for key, heading in headings.items()
                if key not in left_out
            ),
            tuple(rows),
            lambda: frame,
            headline=(self._answer(style.percent),),
            more={
                "required": {name: getattr(self.required, name) for name in ("n", "low", "high")},
                "plan": {
                    name: getattr(self, name)
                    for name in ("source", "n_pilot", "classifier", "n_resamples", "seed")
                },
            },
            style=replace(style, style="full"),
        )

    def _notes(self, style: Style) -> Iterator[str]:
        half_widths = [size.half_widths.size for size in self.sizes]
        share, target = format_level(self.probability), format_limit(self.half_width, style.percent)
        scale = "[0%, 100%]" if style.percent else "[0, 1]"
        yield f"Samples: {self.source}."
        yield from self.preparation
        yield f"Classifier: {self.classifier}."
        draws = "" if self.n_resamples is None else f" {self.n_resamples} resamples of each,"
        yield f"Run: {half_widths[0]} samples of each size,{draws} {in_words(self.seed)}."
        if self.n_pilot is not None:
            yield PILOT_NOTE.format(n=self.n_pilot)
        yield (
            f"expected: mean half-width of limits in {scale}. {share} keep to: half-width that {share} of the "
            f"samples do not exceed. <= {target}: share of samples with such a half-width."
            + ("" if style.style == "paper" else " (se): Monte Carlo standard error of the number before it.")
            + (" coverage: share of intervals that contain the true value." if self.n_pilot is None else "")
        )
        yield (
            "The required size is interpolated, linear in 1/sqrt(n), after isotonic regression made the column "
            f"'{share} keep to' decrease with n; its range is an approximate 95% confidence interval for the size that "
            "very many samples would give."
        )
        yield "A narrow interval is not necessarily valid: check the coverage of the method."
        if without := sum(size.n_without for size in self.sizes):
            yield (
                f"{without} of {sum(half_widths)} samples gave no interval, or one of width zero; they count as the "
                "interval from 0 to 1."
            )
        if redrawn := sum(size.n_redrawn for size in self.sizes):
            yield (
                f"{redrawn} samples with fewer than two patients of a class were redrawn; a real study with such a "
                "sample has no interval at all."
            )

    def describe(self, percent: bool = False) -> Description:
        """Return words for a paper: methods, results, versions and seed, and what to cite."""
        method = METHODS.get(self.method)
        card = method and method.reading(METRICS[self.metric].reads)
        title = f"{card.title} ({self.method})" if card else self.method
        n_each = self.sizes[0].half_widths.size
        grid = ", ".join(str(size.n) for size in self.sizes)
        draws = "" if self.n_resamples is None else f" from {self.n_resamples} resamples"
        methods = (
            f"The number of patients was planned by simulation. Samples of {grid} patients ({self.source}), {n_each} "
            f"of each size, were analyzed as the study will be: a classifier ({self.classifier}) was fitted, and a "
            f"{format_level(self.confidence_level)} interval for its {metric_words([self.metric])} computed"
            f"{draws} by: {title}."
        )
        return Description(
            printable(methods),
            printable(self._answer(percent)),
            software(in_words(self.seed)),
            cited([card.reference] if card else []),
        )

    def display(self) -> HalfWidthDisplay:
        """Return the plot before it is drawn, for example to call ``save(path)``."""
        from cudbound.plotting.studies import HalfWidthDisplay

        return HalfWidthDisplay(self.to_frame(), self.required.n, self._interval)


#: Resamples of the simulated samples for the Monte Carlo range, and its level.
N_REDRAWN = 400
RANGE_LEVEL = 0.95


@dataclass(frozen=True)
class RequiredSampleSize:
    """The smallest number of patients for a target half-width; prints as words.

    Attributes
    ----------
    n : float
        Number of patients, a whole number. The smallest simulated size also stands for any smaller size, infinity for
        any above the largest.
    low, high : float
        Approximate 95 % confidence interval for the `n` that very many samples from the same pilot or world would
        give. It says nothing of how far another pilot would lead to another size.
    smallest, largest : int
        Smallest and largest simulated size.
    """

    n: float
    low: float
    high: float
    smallest: int
    largest: int

    def __str__(self) -> str:
        n, low, high = map(self._in_words, (self.n, self.low, self.high))
        text = f"{n} patients"
        return text if low == high else f"{text} ({low} to {high} by the error of the simulation alone)"

    def _in_words(self, n: float) -> str:
        if n > self.largest:
            return f"more than {self.largest}"
        return f"at most {self.smallest}" if n <= self.smallest else f"{n:.0f}"


def half_width_of(half_widths: validation.Array, probability: float) -> validation.Array:
    """Return the quantile, by the inverted distribution function, along the last axis."""
    rank = quantile_rank(half_widths.shape[-1], probability)
    return np.sort(half_widths, axis=-1)[..., rank - 1]


def required_size(
    half_widths: Mapping[int, validation.Array],
    target: float,
    probability: float,
    rng: np.random.Generator,
) -> RequiredSampleSize:
    """Return the smallest size at which a quantile of the half-widths is at most the target.

    The values at the sizes are made decreasing by isotonic regression, and interpolated linearly in 1 / sqrt(n),
    because half-widths decrease with the square root of n.

    Parameters
    ----------
    half_widths : mapping of int to ndarray
        Half-widths of the simulated samples by size, ascending.
    target : float
    probability : float
        Probability of not exceeding it.
    rng : numpy.random.Generator
        For the Monte Carlo range: the samples of every size are resampled with replacement 400 times.

    Examples
    --------
    >>> fixed = {n: np.full(10, 1.0 / np.sqrt(n)) for n in (25, 64, 100, 400)}
    >>> print(required_size(fixed, 0.11, 0.8, np.random.default_rng(0)))
    83 patients
    """
    sizes, samples = list(half_widths), list(half_widths.values())
    values = np.array([half_width_of(sample, probability) for sample in samples])
    redrawn = np.column_stack(
        [
            half_width_of(sample[rng.integers(0, sample.size, (N_REDRAWN, sample.size))], probability)
            for sample in samples
        ]
    )
    again = [smallest_size(sizes, row, target) for row in redrawn]
    tail = (1.0 - RANGE_LEVEL) / 2.0
    low, high = (inverted_cdf_quantile(again, share) for share in (tail, 1.0 - tail))
    return RequiredSampleSize(smallest_size(sizes, values, target), low, high, sizes[0], sizes[-1])


def smallest_size(sizes: Sequence[int], values: validation.Array, target: float) -> float:
    """Return the smallest whole size at which decreasing values are at most the target; infinity if there is none."""
    falling = isotonic_regression(values, increasing=False).x
    meets = np.flatnonzero(falling <= target)
    if not meets.size:
        return math.inf
    index = int(meets[0])
    if index == 0:
        return float(sizes[0])
    before, after = (1.0 / math.sqrt(n) for n in sizes[index - 1 : index + 1])
    share = (target - falling[index]) / (falling[index - 1] - falling[index])
    return float(round_up((after + share * (before - after)) ** -2.0))
