"""The CUD interval: the training error plus and minus the bootstrap quantile of Q."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cudbound.basis.method_card import RecordKind
from cudbound.basis.results import ConfidenceInterval, Outcome
from cudbound.basis.validation import check_localization
from cudbound.bound.cud_bound import Bound, CudBound, solve_bounds
from cudbound.intervals.method import Method
from cudbound.metrics.metric import MetricRows
from cudbound.records import Records

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.make_records import RecordingInputs


def _record(inputs: RecordingInputs, target: MetricRows) -> tuple[CudBound, ...]:
    """Return the bounds for the family of a target."""
    assert inputs.model is not None
    return solve_bounds(
        inputs.model,
        inputs.counts,
        [replace(target, metric=metric) for metric in target.cud_metrics],
        confidence_level=target.cud_level,
        localization=check_localization(inputs.bound.localization, inputs.sample.n_samples),
        search=inputs.search,
    )


BOUND = RecordKind(
    "bound",
    CudBound,
    "the CUD bound",
    holder="a classifier, as in cudbound.compare_intervals",
    record=_record,
    per="family",
    whole_groups=True,
    of_every_metric=True,
    of_model=True,
    of_draws=True,
)


def cud_limits(training_error: float, q: float) -> ConfidenceInterval:
    """Return the raw limits, which may leave [0, 1], for the quantile q of the deviations.

    References
    ----------
    Laber and Murphy (2008), section 3.1.

    Examples
    --------
    >>> cud_limits(0.25, 0.5)
    ConfidenceInterval(low=-0.25, high=0.75)
    """
    return ConfidenceInterval(training_error - q, training_error + q)


def _cud(records: Records, confidence_level: float) -> Outcome:
    """Constrained uniform deviation bound around the training error.

    Formula: T - q and T + q; q is the 1 - d quantile over the draws of the supremum, over all coefficients beta, of
    |error on the draw - error on the sample| g(alpha_n (L_b(beta_hat) - L_b(beta))), with L_b the mean surrogate loss
    on the draw and g(v) = 1 + v clipped to [0, 1].
    Assumptions: the bootstrap quantile of the smoothed supremum estimates that of the population.
    Tendency: mostly conservative: coverage in 58 settings was .89 to 1.00; can be too low with nearly as many
    features as rows, or with a few labels flipped near separation.
    Reference: Laber and Murphy (2008), sections 3 and 4.
    """
    bound = records.require(BOUND).at(confidence_level=confidence_level)
    return Outcome(
        bound.training_loss,
        cud_limits(bound.training_loss, bound.loss_q),
        remarks=bound.remarks,
        degenerate="no classifier near the fitted one deviates in the draws at the quantile (Q = 0)",
        center="training error",
    )


def _one_sided(records: Records, confidence_level: float, _: str) -> Outcome:
    # the suprema are of both sides: their quantile at the whole level leaves out no more on one
    return _cud(records, confidence_level)


CUD = Method("cud", {BOUND}, cost="0", compute=_cud, one_sided=_one_sided, settings=Bound)
