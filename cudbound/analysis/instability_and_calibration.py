"""What refits say beyond intervals: instability row by row, and calibration corrected for optimism."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack

from cudbound.adapters.parts import RecordedOutputs, distances_from_threshold
from cudbound.basis.calls import bar_of_refits
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import Kind
from cudbound.basis.results import Pictured
from cudbound.basis.sample import Sample, as_table, predicted_labels, predicted_probabilities
from cudbound.basis.validation import Array, check_choice
from cudbound.basis.words import InLines, format_proportion
from cudbound.metrics.views import scored
from cudbound.point_estimates.auc import order_codes
from cudbound.point_estimates.calibration_values import calibration_values
from cudbound.records import Records
from cudbound.report.tables import Run
from cudbound.resampling.refits import refits_of

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.display import Display
    from cudbound.plotting.risks import CalibrationDisplay

#: Shares of refits above which rows are counted.
MARKS = (0.1, 0.25)
#: Quantiles of the refits' risks, as in Riley and Collins (2023).
QUANTILES = (0.025, 0.975)

Picture = Literal["classes", "risks", "mape", "calibration", "net-benefit"]
#: Why a result has no risks.
NO_RISKS = " The classifier has no predict_proba, or no risks were computed before the result was pickled."
#: What must stand wherever quantiles of the refits' risks do.
NO_CONFIDENCE_INTERVAL = (
    "This is the instability of building the model on so few cases; it is not a confidence interval for the risk of "
    "a patient."
)


@dataclass(frozen=True, eq=False, repr=False)
class Instability(InLines, Pictured["Display"]):
    """How much refits on bootstrap draws differ from the classifier in the class and the risk of each row.

    It prints a summary without single rows; `to_frame` has the rows by number. The risks of the refits show how much
    the building of the model depends on its training set; their quantiles are not a confidence interval for the risk of
    a patient.

    Attributes
    ----------
    shares : ndarray of float, shape (n_samples,)
        Share of refits, in [0, 1], that classify the row differently.
    n_refits : int
        Number of refits.
    distances : ndarray of float, shape (n_samples,), or None
        Distance of the row's score from the threshold of the classifier; None without such scores.
    distances_of : str
        The quantity whose distances they are, or why there are none.
    remarks : tuple of str
        The treatment of draws that could not be used as drawn, and of groups of rows.
    run : Run or None
        The data, the classifier and the draws, if known.
    risks : ndarray of float, shape (n_samples,), or None
        Risk of the event by the classifier; None for a classifier without ``predict_proba``.
    refit_risks : ndarray of float, shape (n_refits with risks, n_samples), or None
        Risks by the refits. A draw of one class gives a constant classifier, which has none.
    event : ndarray of bool, shape (n_samples,), or None
        Which rows are events; None for new rows, whose outcome is unknown.

    References
    ----------
    Riley, R. D. and Collins, G. S. (2023). Stability of clinical prediction models developed using statistical or
    machine learning methods. Biometrical Journal 65, 2200302.
    """

    shares: Array
    n_refits: int
    distances: Array | None = None
    distances_of: str = "no scores were given"
    remarks: tuple[str, ...] = ()
    run: Run | None = field(default=None)
    risks: Array | None = None
    refit_risks: Array | None = None
    event: NDArray[np.bool_] | None = None

    @property
    def mean(self) -> float:
        """Mean share over the rows: how often a refit and the classifier disagree about a row."""
        return float(self.shares.mean())

    def above(self, share: float) -> float:
        """Return the share of rows that more than this share of refits classify differently."""
        return float((self.shares > share).mean())

    @property
    def mape(self) -> Array | None:
        """Mean absolute difference between each row's risk by the refits and by the classifier, shape (n_samples,)."""
        if self.risks is None or self.refit_risks is None:
            return None
        return np.asarray(np.abs(self.refit_risks - self.risks).mean(axis=0))

    def quantiles(self, levels: tuple[float, ...] = QUANTILES) -> Array:
        """Return quantiles of each row's risk over the refits, shape (n_levels, n_samples); nan without risks.

        They are interpolated linearly, as by default in R and NumPy.
        """
        if self.refit_risks is None:
            return np.full((len(levels), self.shares.size), np.nan)
        return np.quantile(self.refit_risks, levels, axis=0)

    @property
    def summary(self) -> dict[str, float]:
        """The printed numbers by name."""
        marks = {f"above_{100 * mark:g}_percent": self.above(mark) for mark in MARKS}
        numbers: dict[str, float] = {"n_refits": self.n_refits, "mean": self.mean, **marks}
        if self.mape is not None:
            low, high = self.quantiles()
            numbers |= {"mape": float(self.mape.mean()), "largest_mape": float(self.mape.max())}
            numbers["median_range"] = float(np.median(high - low))
        return numbers

    def lines(self) -> list[str]:
        """Return the summary, in sentences."""
        numbers, of_risks = self.summary, []
        low, high = (f"{int((self.shares > mark).sum())} ({_percent(self.above(mark))})" for mark in MARKS)
        first, second = (f"{100 * mark:g}%" for mark in MARKS)
        rows = "rows" if self.event is None else "training rows"
        if self.mape is not None:
            of_risks = [
                f"Prediction instability: the risk by a refit differs from that by this classifier by "
                f"{numbers['mape']:.3f} on average, and by {numbers['largest_mape']:.3f} for the least stable row "
                "(mean absolute prediction error, MAPE).",
                f"For half of the rows, 95% of the refits' risks span {numbers['median_range']:.3f} or more. "
                + NO_CONFIDENCE_INTERVAL,
            ]
        return [
            f"Classification instability: of {self.shares.size} {rows}, {low} are classified differently by "
            f"more than {first} of the refits, {high} by more than {second}.",
            f"A refit and this classifier disagree about {_percent(self.mean)} of the rows, on average over "
            f"{self.n_refits} bootstrap draws.",
            *of_risks,
            *(f"{remark[0].upper()}{remark[1:]}." for remark in self.remarks),
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return one line per row, in order.

        Returns
        -------
        pandas.DataFrame
            With the columns ``share`` and ``distance``; ``risk``, its quantiles over the refits ``risk_low`` and
            ``risk_high``, and ``mape``. What is not known is nan. The index is the row number, from 0.
        """
        import pandas as pd

        unknown = np.full(self.shares.size, np.nan)
        low, high = self.quantiles()
        columns = {"share": self.shares, "distance": self.distances, "risk": self.risks}
        columns |= {"risk_low": low, "risk_high": high, "mape": self.mape}
        filled = {name: unknown if values is None else values for name, values in columns.items()}
        return pd.DataFrame(filled).rename_axis("row")

    def display(self, picture: Picture = "classes") -> Display:
        """Return a plot; its `plot` draws it.

        Parameters
        ----------
        picture : {"classes", "risks", "mape", "calibration", "net-benefit"}, default="classes"
            - ``"classes"``: each row's share of refits with another class, against the distance of its score from the
              threshold; without scores, the rows are ordered by share.
            - ``"risks"``: the risks by the refits against that by the classifier, with their quantiles.
            - ``"mape"``: the mean absolute difference of these risks against the risk.
            - ``"calibration"``: calibration curves of the refits on the training rows.
            - ``"net-benefit"``: decision curves of the refits on the training rows.

        Raises
        ------
        ValueError
            If the picture needs risks or outcomes that are not there.
        """
        from cudbound.plotting import risks as plots

        possible, hint = get_args(Picture), ""
        check_choice("picture", picture, possible)
        if self.refit_risks is None:
            possible, hint = possible[:1], NO_RISKS
        elif self.event is None:
            possible, hint = possible[:3], " The outcomes of new rows are unknown."
        if picture not in possible:
            raise ParameterError("picture", f"one of {sorted(possible)}", picture, hint)
        if picture == "classes":
            return plots.InstabilityDisplay(self.shares, self.distances, self.distances_of, marks=MARKS)
        of_risks: Mapping[str, Callable[..., Display]] = {
            "risks": plots.PredictionInstabilityDisplay,
            "mape": plots.MapeDisplay,
            "calibration": plots.CalibrationInstabilityDisplay,
            "net-benefit": plots.DecisionCurveInstabilityDisplay,
        }
        return of_risks[picture](self.risks, self.refit_risks, () if self.event is None else self.event)

    def plot(self, ax: Any = None, *, picture: Picture = "classes") -> Display:
        """Draw a picture; parameters as for `display`, and axes, or None for a new figure."""
        return self.display(picture).plot(ax)


def instability_of(
    records: Records, sample: Sample, run: Run, n_jobs: int, X_new: Any = None, *, refit: bool = True
) -> Instability | None:
    """Return how much the refits on bootstrap draws differ in the training rows, or in new rows.

    Risks that no metric has recorded, and all outputs for new rows, are those of the same refits, made again; without
    `refit` there are then no risks. None without refits or two classes.
    """
    bootstrap, estimator = records.bootstrap, sample.estimator
    if bootstrap is None or len(sample.classes) != 2:
        return None
    X, predicted, refit_risks = sample.X, sample.predicted, bootstrap.probabilities
    kinds: tuple[Kind, ...] = ("probabilities",) if hasattr(estimator, "predict_proba") else ()
    if X_new is not None:
        X, predicted = X_new, predicted_labels(estimator, X_new, sample.classes)
        # rows that no draw has, with the labels that the classifier predicts
        counts = np.pad(bootstrap.counts, ((0, 0), (0, len(predicted))))
        again = _outputs_of_refits(_extended(sample, X_new, predicted), counts, kinds, n_jobs)
        again = again[:, sample.n_samples :]
        changed, refit_risks = again["loss"], again["probabilities"] if kinds else None
    else:
        changed = np.asarray(bootstrap.losses, dtype=bool) != np.asarray(records.losses, dtype=bool)
        if refit_risks is None and refit and kinds:
            refit_risks = _outputs_of_refits(sample, bootstrap.counts, kinds, n_jobs)["probabilities"]
    groups = () if records.groups is None else (f"{records.groups} kept together",)
    risks = None
    if refit_risks is not None:
        risks = predicted_probabilities(estimator, X, 2)[:, sample.event_class]
        # constant classifiers have none
        refit_risks = refit_risks[np.isfinite(refit_risks).all(axis=1)]
    return Instability(
        changed.mean(axis=0),
        bootstrap.n_fits,
        *distances_from_threshold(estimator, X, predicted),
        (*bootstrap.remarks, *groups),
        run,
        risks,
        refit_risks,
        sample.events if X_new is None else None,
    )


def _outputs_of_refits(
    sample: Sample, counts: NDArray[Any], kinds: tuple[Kind, ...], n_jobs: int
) -> NDArray[Any]:
    """Return losses and risks of the refits to these draws."""
    refits = refits_of(sample, n_jobs, RecordedOutputs(kinds, sample.event_class))
    with bar_of_refits(len(counts)) as advance:
        # a classifier with random numbers takes others than in the records
        rng = np.random.default_rng(0)
        return refits.outputs(counts.astype(np.int32), rng, advance, scored=True, each="draw")


def _extended(sample: Sample, X_new: Any, labels: NDArray[Any]) -> Sample:
    """Return a sample with further rows, for refits to the rows that it had."""
    n_new, weights, groups = len(labels), sample.sample_weight, sample.names_of_groups
    rows, new_rows = as_table(sample.X), as_table(X_new)
    if hasattr(rows, "tocsr"):
        X = vstack((rows, new_rows)).tocsr()
    elif hasattr(rows, "columns"):
        import pandas as pd

        frames = (
            table if isinstance(table, pd.DataFrame) else table.to_pandas() for table in (rows, new_rows)
        )
        X = pd.concat(frames, ignore_index=True)
    else:
        X = np.concatenate((rows, np.asarray(new_rows)))
    return replace(
        sample,
        X=X,
        y=np.concatenate((sample.y, labels)),
        sample_weight=None if weights is None else np.pad(weights, (0, n_new), constant_values=1.0),
        names_of_groups=None if groups is None else np.pad(np.asarray(groups), (0, n_new), mode="edge"),
    )


def _percent(share: float) -> str:
    return format_proportion(share, percent=True)


# ---- calibration ----

NOT_DEFINED = "the predicted risks separate the classes or are all equal, or one class is missing"


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(InLines, Pictured["CalibrationDisplay"]):
    """Agreement of predicted risks with the observed share of events: point estimates without intervals.

    The intercept is calibration-in-the-large, from a logistic regression of the event with the logit of the risk as an
    offset: 0 is ideal, and risks are too high if it is negative. The slope comes from a regression on the logit with a
    free intercept: 1 is ideal, and risks are too extreme if it is below 1. Risks are clipped to [1e-6, 1 - 1e-6] first.

    There is no interval. Those in use, from the slopes of refits or Wald's from training rows or out of fold, cover the
    slope at most .23 of the time in their worst setting; the one with nominal coverage is too long to be useful (its
    median width is 2.4; the slope of a good classifier is 1).

    Attributes
    ----------
    apparent_intercept, apparent_slope : float
        Values on the training rows; nan if the risks separate the classes or are all equal.
    intercept, slope : float
        The apparent values minus their optimism: the mean over draws of the refit's value on its draw minus its value
        on the training rows.
    n_draws : int
        Draws used for the optimism; the others had one class, or risks that separate the classes or are all equal.
    remarks : tuple of str
        Why a value is nan, and how many draws were left out.

    References
    ----------
    Harrell, F. E. (2015). Regression modeling strategies, section 5.3; Van Calster, B. et al. (2019). Calibration: the
    Achilles heel of predictive analytics. BMC Medicine 17, 230.
    """

    apparent_intercept: float
    apparent_slope: float
    intercept: float
    slope: float
    n_draws: int
    remarks: tuple[str, ...] = ()
    #: Event and mean probability over the draws that left the row out, for the plot.
    predictions: pd.DataFrame | None = field(default=None)

    def lines(self) -> list[str]:
        """Return the values, in sentences."""
        return [
            f"Calibration corrected for optimism over {self.n_draws} bootstrap draws: intercept "
            f"{_number(self.intercept)}, slope {_number(self.slope)}.",
            f"On the training rows: intercept {_number(self.apparent_intercept)}, "
            f"slope {_number(self.apparent_slope)}.",
            *(f"{remark[0].upper()}{remark[1:]}." for remark in self.remarks),
        ]

    def display(self) -> CalibrationDisplay:
        """Return the plot of observed shares against mean risks, by tertiles of the risk; its `plot` draws it.

        Raises
        ------
        ValueError
            If no row was left out of a draw.
        """
        from cudbound.plotting.risks import CalibrationDisplay

        if self.predictions is None:
            raise ValueError("The plot needs risks from refits on bootstrap draws, but there are none.")
        return CalibrationDisplay(self.predictions, self.intercept, self.slope)


def calibration_in(records: Records) -> Calibration:
    """Return the calibration, from recorded probabilities of a classifier and its refits."""
    event, draws = records.event, records.bootstrap
    ones = np.ones(event.size)
    apparent = calibration_values(records.probabilities[None], event, ones)[0]
    corrected, n_used = np.full(2, np.nan), 0
    remarks = [f"no calibration: {NOT_DEFINED}"] if np.isnan(apparent).any() else []
    if (bootstrap := scored(records).bootstrap) is not None:
        differences = calibration_values(bootstrap.probabilities, event, bootstrap.counts)
        differences -= calibration_values(bootstrap.probabilities, event, ones)
        differences = differences[np.isfinite(differences).all(axis=1)]
        n_used = len(differences)
        corrected = apparent - differences.mean(axis=0) if n_used else corrected
    if draws is None:
        remarks.append("no refits on bootstrap draws")
    elif n_used < draws.n_fits:
        remarks.append(f"{draws.n_fits - n_used} of {draws.n_fits} draws were left out: {NOT_DEFINED}")
    predictions = None if draws is None else predictions_in(records)
    (intercept, slope), (apparent_intercept, apparent_slope) = corrected.tolist(), apparent.tolist()
    return Calibration(
        apparent_intercept, apparent_slope, intercept, slope, n_used, tuple(remarks), predictions
    )


def predictions_in(records: Records) -> pd.DataFrame:
    """Return scores and probabilities of each training row, apparent and out of bag; nan where not recorded."""
    import pandas as pd

    missing = np.full(records.n_samples, np.nan)
    bootstrap = scored(records).bootstrap

    def out_of_bag(name: str, *, ranks: bool) -> Array:
        values = getattr(bootstrap, name, None)
        return (
            missing if bootstrap is None or values is None else _out_of_bag(values, bootstrap.counts, ranks)
        )

    ranked = "probabilities" if records.scores is None else "scores"
    scores, probabilities = getattr(records, ranked), records.probabilities
    return pd.DataFrame(
        {
            "event": records.event,
            "score": missing if scores is None else scores,
            "rank_out_of_bag": out_of_bag(ranked, ranks=True),
            "probability": missing if probabilities is None else probabilities,
            "probability_out_of_bag": out_of_bag("probabilities", ranks=False),
        }
    ).rename_axis("row")


def _out_of_bag(scores: Array, counts: NDArray[np.integer[Any]], ranks: bool) -> Array:
    """Return each row's mean score, or mean rank among the rows left out, over the draws that left it out."""
    out = np.asarray(counts) == 0
    values = _ranks(scores, out) if ranks else scores
    n_out = out.sum(axis=0)
    sums = np.where(out, values, 0.0).sum(axis=0)
    return np.asarray(np.where(n_out > 0, sums / np.maximum(n_out, 1), np.nan))


def _ranks(scores: Array, out: NDArray[np.bool_]) -> Array:
    """Return the share of rows left out of the same draw that a row exceeds; ties and the row itself count half."""
    codes = order_codes(scores)
    n_fits, n = codes.shape
    at = codes + n * np.arange(n_fits)[:, None]
    of_code = np.bincount(at.ravel(), out.ravel(), n_fits * n).reshape(n_fits, n)
    below = np.cumsum(of_code, axis=1) - 0.5 * of_code
    return np.asarray(
        np.take_along_axis(below, codes, axis=1) / np.maximum(out.sum(axis=1, keepdims=True), 1)
    )


def _number(value: float) -> str:
    return "not available" if math.isnan(value) else f"{value:z.2f}"
