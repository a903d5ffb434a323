"""The recommended interval, from cudbound: binomial limits around two centers, the upper one capped by a supremum.

The interval extends from the lower limit of the smaller to the upper limit of the larger of two estimates, as if each
were the error on as many new cases as there are training rows; `cudbound.point_estimates.two_centers` documents when
other estimates are used. If few features were fitted and no step before the classifier used the labels, the signed side
of the CUD bound limits how far the training error can be too low. It may lower the upper limit, down to that of the
smaller center.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from cudbound.basis.method_card import Choice, Flag
from cudbound.basis.outcomes import UNDEFINED_LIMITS, ConfidenceInterval, Estimand, Outcome, Words
from cudbound.basis.quantiles import inverted_cdf_quantile, within
from cudbound.basis.rounding import Worded
from cudbound.intervals.auc_two_center import TWO_CENTER_AUC
from cudbound.intervals.brier_two_center import TWO_CENTER_BRIER
from cudbound.intervals.method import Method
from cudbound.point_estimates.effective_size import design_effect, effective_rows
from cudbound.point_estimates.two_center_limits import counted_rows, two_center_interval
from cudbound.point_estimates.two_centers import TwoCenters, allows_cap, two_centers
from cudbound.records import Design, Records

TITLE = "Binomial limits around the optimism-corrected and the .632+ estimate"
SOURCES = (
    "this package, docs/explanation/two_centers.md; Clopper and Pearson (1934), Efron and Gong (1983), Efron and "
    "Tibshirani (1997)"
)
#: With a cap on the upper limit.
CAPPED = Words(f"{TITLE}, capped by the CUD bound", f"{SOURCES}, Laber and Murphy (2008)")


def _suprema(records: Records, wanted: bool, probability: float) -> tuple[float, float] | str:
    """Return bounds on the quantile of the signed suprema, or why there is no cap."""
    suprema = records.signed_suprema
    if not wanted:
        return "upper limit not capped, as requested"
    if reason := records.why_not_capped or _why_no_cap(records):
        return f"upper limit not capped: {reason}"
    if suprema is None:
        return "upper limit not capped: no CUD bound available"
    upper = inverted_cdf_quantile(suprema.upper, probability)
    return (upper if suprema.lower is None else inverted_cdf_quantile(suprema.lower, probability)), upper


def _why_no_cap(records: Records) -> str:
    """Return why the rank of the design does not allow the cap, in a few words; empty if it does."""
    if allows_cap(records):
        return ""
    if records.design is None or math.isnan(records.design.rank):
        return (
            "no CUD bound available" if records.signed_suprema is None else "rank of the design not recorded"
        )
    units = f"{records.n_samples} rows" if records.groups is None else f"{records.groups.n_groups} groups"
    return f"rank {records.design.rank:.0f} above a third of the {units}"


def _two_center(records: Records, confidence_level: float, *, tails: str, cap: bool) -> Outcome:
    centers = two_centers(records)
    if math.isnan(centers.error_632_plus):
        return Outcome(math.nan, UNDEFINED_LIMITS)
    n = counted_rows(records, centers)

    def limits(q: float | None) -> ConfidenceInterval:
        cap = None if q is None else centers.training_error + q
        return two_center_interval(centers, n, confidence_level, cap=cap, tails=tails)

    suprema = _suprema(records, cap, 0.5 + confidence_level / 2)
    uncapped = interval = limits(None)
    remarks = [*_remarks_below(records, centers), *_remarks_above(records, centers)]
    details = _details(records, centers, n)
    if isinstance(suprema, str):
        remarks.append(suprema)
    else:
        lower, upper = suprema
        interval = limits(upper)
        details |= {"uncapped_high": uncapped.high, "lowered_by": uncapped.high - interval.high}
        if lower == upper:
            details["q_signed"] = upper
        elif limits(lower) != interval:
            q = partial(within, lower, upper)
            remarks.append(Worded.of(lambda write: f"q- {q(write)}, upper value used"))
    if interval.high < uncapped.high:
        remarks.append(
            Worded.of(lambda write: f"upper limit {write(uncapped.high)} lowered by the CUD bound")
        )
    return Outcome(
        min(max(centers.estimate, interval.low), interval.high),
        interval,
        remarks=tuple(remarks),
        details=details,
        words=_words(records, centers, capped=not isinstance(suprema, str), tails=tails),
        center="mean of out-of-bag and .632+" if centers.overfits else "mean of two centers",
    )


def _words(records: Records, centers: TwoCenters, *, capped: bool, tails: str) -> Words:
    """Return the title with the estimates behind the limits, and the sources of what was used."""
    words = CAPPED if capped else Words(TITLE, SOURCES)
    title, reference = words.title, words.reference
    if further := _further_center(centers):
        title = title.replace(TITLE, f"{TITLE} and, above, the {further} error")
    if tails == "shortest":
        title = title.replace("Binomial limits", "Shortest binomial limits")
    if records.groups is not None or records.n_effective != records.n_samples:
        reference = f"{reference}, Kish (1965)"
    return Words(title, reference)


def _remarks_below(records: Records, centers: TwoCenters) -> list[str]:
    """Return how rows were counted and what changed the lower limit, in a few words each."""
    found = []
    if records.groups is not None:
        effect = f"design effect {design_effect(records):.3g} of the out-of-bag losses"
        found.append(f"{records.n_samples} rows counted as {effective_rows(records):.1f}: {effect}")
    if centers.low < centers.smaller:
        why = "few distinct rows" if centers.low > 0.0 else "no training error"
        found.append(Worded.of(lambda write: f"{why}: lower limit from {write(centers.low)}"))
    return found


def _remarks_above(records: Records, centers: TwoCenters) -> list[str]:
    """Return what changed the upper limit, apart from the cap."""
    found: list[str] = []
    if which := _further_center(centers):
        from_error = f"the classifier overfits: upper limit from the {which} error"
        found.append(Worded.of(lambda write: f"{from_error} {write(centers.high)}"))
    nearly_full = records.design is not None and records.design.is_nearly_full
    if nearly_full and math.isnan(centers.cross_validated):
        found.append("rank close to the number of rows, but no cross-validated error recorded")
    return found


def _further_center(centers: TwoCenters) -> str:
    """Return the name of the error from which the upper limit starts, if it is neither of the two centers."""
    if centers.high <= max(centers.optimism_corrected, centers.error_632_plus):
        return ""
    return "out-of-bag" if centers.high == centers.out_of_bag else "cross-validated"


def _details(records: Records, centers: TwoCenters, n: float) -> dict[str, float]:
    """Return the known numbers behind the limits."""
    design = Design(records.n_samples) if records.design is None else records.design
    known = {
        "training_error": centers.training_error,
        "optimism_corrected": centers.optimism_corrected,
        "error_632_plus": centers.error_632_plus,
        "error_out_of_bag": centers.out_of_bag,
        "no_information": centers.no_information,
        "overfits": float(centers.overfits),
        "error_cross_validated": centers.cross_validated,
        "lower_center": centers.low,
        "upper_center": centers.high,
        "effective_rows": math.nan if n == records.n_samples else n,
        "rank": design.rank,
        "distinct_rows": design.distinct_rows,
    }
    return {name: value for name, value in known.items() if not math.isnan(value)}


def _one_sided(
    records: Records, confidence_level: float, alternative: str, *, tails: str, cap: bool
) -> Outcome:
    level = 2.0 * confidence_level - 1.0
    if alternative == "less":
        return _two_center(records, level, tails="equal", cap=cap)
    outcome = _two_center(records, level, tails="equal", cap=False)
    # nothing is said of an upper limit, and of its cap, where there is none
    below = () if math.isnan(outcome.raw_interval.low) else _remarks_below(records, two_centers(records))
    return replace(outcome, remarks=tuple(below))


def _needs(options: Mapping[str, Any], design: Design | None = None) -> frozenset[str]:
    cap = {"signed_suprema"} if options["cap"] else set()
    folds = {"stratified_folds"} if design is not None and design.is_nearly_full else set()
    return frozenset({"losses", "bootstrap", "design", *cap, *folds})


TWO_CENTER = Method(
    name="two-center",
    title=f"{CAPPED.title} where it exists",
    formula="low = lo(n l), high = min(up(n M), max(up(n m), T + Q)), or up(n M) without a cap; m is the smaller of "
    "the .632+ estimate and T + mean of (D_b - A_b), M is the largest of the two, of Err(1) if the classifier "
    "overfits, and of the cross-validated error if the rank is nearly n; l is m, or (m + T)/2 if that is less and at "
    "most half of the rows are distinct, or 0 if T is 0 and the rank is at most n/2; lo and up are Clopper-Pearson "
    "limits for n cases with d/2 in each tail, extended to fractional numbers of errors; Q is the 1 - d/2 quantile of "
    "one side of the suprema of cud",
    estimand=Estimand("conditional"),
    needs=_needs({"cap": True}),
    needs_with=_needs,
    assumptions="one of the two centers is close to the error of this classifier, and varies as if observed on n new "
    "cases",
    tendency="reached its level in 97 of 101 settings of simulated worlds and real data, including feature selection "
    "and trees (docs/evidence/confirmation.md); with a rank above nine tenths of the rows, too long to be informative "
    "(width .47 to .60 in 6 settings), with an estimate up to .08 too low; coverage .02 too low for groups of very "
    "unequal size; long if the classifier overfits, and longer than the CUD bound for nearly separable classes",
    reference=CAPPED.reference,
    cost="B",
    compute=_two_center,
    one_sided=_one_sided,
    options={"tails": Choice(("equal", "shortest")), "cap": Flag(True)},
    others={"scores": TWO_CENTER_AUC, "probabilities": TWO_CENTER_BRIER},
)
