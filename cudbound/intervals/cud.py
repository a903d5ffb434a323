"""The CUD interval: the training error plus and minus the bootstrap quantile of Q."""

from __future__ import annotations

from dataclasses import replace

from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.basis.proportions import limit_without_error
from cudbound.basis.rounding import Worded
from cudbound.intervals.method import ON_TRAINING_ROWS, Method
from cudbound.records import Records


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
    bound = records.require("bound").at(confidence_level=confidence_level)
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


def _too_low(records: Records, outcome: Outcome, confidence_level: float, alternative: str) -> str | None:
    """Return a message if the upper limit is lower than n new cases without an error could support, else None.

    This happens if the classes are nearly separable: no valid nonrandom limit can be lower there.
    """
    if alternative == "greater":
        return None
    n, high = records.n_samples, outcome.raw_interval.high
    limit = limit_without_error(n, confidence_level, alternative)
    if high >= limit:
        return None
    return Worded.of(
        lambda write: (
            f"upper limit {write(high)} below {write(limit)}, that of {n} new cases without an error"
        )
    )


CUD = Method(
    name="cud",
    title="Constrained uniform deviation bound around the training error",
    formula="T - q and T + q; q is the 1 - d quantile over the draws of the supremum, over all coefficients beta, of "
    "|error on the draw - error on the sample| g(alpha_n (L_b(beta_hat) - L_b(beta))), with L_b the mean surrogate "
    "loss on the draw and g(v) = 1 + v clipped to [0, 1]",
    estimand=Estimand("conditional"),
    needs=frozenset({"bound"}),
    assumptions="the bootstrap quantile of the smoothed supremum estimates that of the population",
    tendency="conservative: it bounds the deviation of every classifier near the fitted one",
    reference="Laber and Murphy (2008), sections 3 and 4",
    cost="0",
    compute=_cud,
    one_sided=_one_sided,
    fallback=replace(ON_TRAINING_ROWS, also=_too_low),
)
