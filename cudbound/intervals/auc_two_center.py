"""The recommended interval for the AUC: binomial limits around two centers, as if observed on new cases."""

from __future__ import annotations

import math

from cudbound.basis.method_card import GROUPED
from cudbound.basis.outcomes import UNDEFINED_LIMITS, ConfidenceInterval, Estimand, Outcome, Words
from cudbound.basis.proportions import inverted_binomial_tails
from cudbound.basis.rounding import Worded
from cudbound.intervals.method import Method
from cudbound.point_estimates.two_center_auc import AucSize, auc_centers
from cudbound.records import ScoreRecords

ONE_ROW = "undefined: a class has a single row"
NO_PAIR = "undefined: no event and non-event were ever out of bag together; use more bootstrap draws"
#: If a class has fewer rows than this, a remark is added.
FEW = 3
TITLE = (
    "Binomial limits around the optimism-corrected, the out-of-bag and the .632 AUC, with the variance of Hanley and "
    "McNeil or of DeLong"
)
SOURCES = (
    "this package, docs/how_to/auc_and_brier.md; Clopper and Pearson (1934), Hanley and McNeil (1982), Efron and Gong "
    "(1983), DeLong et al. (1988), Efron and Tibshirani (1997), Newcombe (2006)"
)


def _two_center(records: ScoreRecords, confidence_level: float) -> Outcome:
    if min(records.n_events, records.n_samples - records.n_events) < 2:
        return Outcome.undefined(ONE_ROW)
    centers, sizes = auc_centers(records), AucSize.of(records)
    if math.isnan(centers.out_of_bag):
        return Outcome(math.nan, UNDEFINED_LIMITS, degenerate=NO_PAIR)
    tail = (1.0 - confidence_level) / 2.0
    lower, upper = sizes.at(centers.low), sizes.at(centers.high)
    low = float(inverted_binomial_tails(lower * centers.low, lower, tail, tail)[0])
    high = float(inverted_binomial_tails(upper * centers.high, upper, tail, tail)[1])
    # what a rarer class that is ranked right throughout allows; without it one more case ranked right could lower it
    allowed = tail ** (1.0 / sizes.n_fewer)
    interval = ConfidenceInterval(min(low, allowed), high)
    known = {
        "training_auc": centers.training,
        "auc_optimism_corrected": centers.optimism_corrected,
        "auc_out_of_bag": centers.out_of_bag,
        "auc_632_plus": centers.plus,
        "auc_632": centers.at_632,
        "lower_center": centers.low,
        "upper_center": centers.high,
        "variance_delong": sizes.variance,
        "lower_size": lower,
        "upper_size": upper,
    }
    return Outcome(
        min(max(centers.plus, interval.low), interval.high),
        interval,
        remarks=tuple(_remarks(centers.low, centers.n_never, sizes)),
        details={name: value for name, value in known.items() if not math.isnan(value)},
    )


def _remarks(low: float, n_never: int, sizes: AucSize) -> list[str]:
    found = []
    if min(sizes.n_events, sizes.n_others) < FEW:
        found.append(
            f"only {min(sizes.n_events, sizes.n_others)} rows in one class: the limits are not informative"
        )
    if sizes.n_fewer * (1.0 - low) < 1.0:
        found.append(
            "fewer than one misranked case: the limit allows for a subgroup that is absent from the data"
        )
    if sizes.shrinkage < 1.0:
        counted = Worded.of(lambda write: f"cases counted as {write(sizes.shrinkage)} of their number")
        found.append(Worded.joined(counted, ": rows of a group vary together"))
    if n_never:
        found.append(f"pairs never out of bag together, left out of the out-of-bag AUC: {n_never}")
    return found


TWO_CENTER_AUC = Method(
    name="two-center",
    reads="scores",
    title=TITLE,
    formula="low = min(lo(ne(m) m), (d/2)^(1/s)), high = up(ne(M) M); m is the smaller of the optimism-corrected AUC "
    "and the mean of the out-of-bag and the .632+ AUC, M the larger of the first and the .632 AUC; lo and up are "
    "Clopper-Pearson limits for ne cases with d/2 in each tail; ne(c) is the number of cases that gives the variance "
    "of Hanley and McNeil or of DeLong, reduced near 1, down to s, the rows of the rarer class",
    estimand=Estimand("conditional"),
    needs=frozenset({"scores", "bootstrap"}),
    assumptions="one of the two centers is close to the AUC of this classifier, and varies as if observed on new "
    "cases",
    tendency="reached its level in 90 of 91 settings (docs/evidence/auc_and_brier.md); too high "
    "with nearly as many features as rows; long near separation",
    reference=SOURCES,
    ways={
        GROUPED: Words(
            TITLE.replace("of DeLong", "of Obuchowski for groups"),
            SOURCES.replace("DeLong et al. (1988)", "Obuchowski (1997)"),
        )
    },
    cost="B",
    compute=_two_center,
)
