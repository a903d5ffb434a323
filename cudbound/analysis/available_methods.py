"""All registered intervals, tests and point estimators: as a frame, and one of them in full."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cudbound.analysis.question import takes_groups_apart
from cudbound.basis.calls import public_call
from cudbound.basis.method_card import MethodCard
from cudbound.basis.results import Estimand
from cudbound.intervals import GROUPS, METHODS, Method
from cudbound.metrics.predictive import DERIVED
from cudbound.point_estimates import ESTIMATORS
from cudbound.report.sentences import DIFFERENCES, ERRORS, aim_of

if TYPE_CHECKING:
    import pandas as pd

#: The headings of a full description, in this order, with the columns of `available_methods`.
HEADINGS = {
    "gives": "gives",
    "aims at": "estimand",
    "formula": "formula",
    "symbols": "symbols",
    "assumes": "assumptions",
    "tendency": "tendency",
    "reference": "reference",
    "fits": "cost",
    "options": "options",
    "groups": "groups",
}
#: The metrics that read an output of the classifier.
METRIC_OF: Mapping[str, str] = {"classes": "error", "scores": "AUC", "probabilities": "Brier score"}


@public_call
def available_methods() -> pd.DataFrame:
    """Return all methods of this package, one per row, with their properties.

    Returns
    -------
    pandas.DataFrame
        Indexed by name: ``available_methods().loc["two-center"]`` is one method. Columns of text:

        - ``name``: its name in ``methods=`` and ``method=``;
        - ``gives``: "interval" (`cudbound.compare_intervals`), "comparison" (`cudbound.compare_learners`), both, or
          "point estimate" (`cudbound.estimate_error`);
        - ``title``, ``formula``, ``estimand``, ``assumptions``, ``tendency``, ``reference``: description, formula,
          target, assumptions, when it is known to be too short, too long, too low or too high, and source;
        - ``groups``: names of the groups that contain it;
        - ``needs``: the records that it reads for the first of the outputs in ``reads``, most of them fields of
          `cudbound.records.Records`;
        - ``reads``: the outputs that it evaluates: "classes", "scores" for the AUC, "probabilities" for the Brier
          score;
        - ``cost``: classifier fits, in B bootstrap draws and the numbers of `cudbound.Resampling`;
        - ``options``: the default of each option, and its other values;
        - ``with_groups``: how rows in groups are handled, see `cudbound.basis.method_card.MethodCard`: "kept" together,
          "refits" if the limits count them as independent, or "no" if the method cannot keep them together.

    Examples
    --------
    >>> from cudbound import available_methods
    >>> frame = available_methods()
    >>> frame.loc["mcnemar", "gives"], frame.loc["cud", "estimand"]
    ('comparison', 'conditional')
    """
    import pandas as pd

    rows = [row_of(method) for method in (*METHODS.values(), *ESTIMATORS.values())]
    return pd.DataFrame(rows, index=[row["name"] for row in rows])  # without a name, which a column has


def row_of(method: MethodCard) -> dict[str, str]:
    """Return the columns of `available_methods` for one method, or for its form for other metrics."""
    gives, groups = "point estimate", "all"
    if isinstance(method, Method):
        results = {"interval": method.gives_interval, "comparison": method.compares}
        gives = " and ".join(what for what, is_result in results.items() if is_result)
        groups = ", ".join(group for group, names in GROUPS.items() if method.name in names)
    return {
        "name": method.name,
        "gives": gives,
        "title": method.title,
        "formula": method.formula,
        "estimand": str(method.estimand),
        "groups": groups,
        "needs": ", ".join(kind.name for kind in sorted(method.needs)),
        "reads": ", ".join((method.reads, *method.variants)),
        "assumptions": method.assumptions,
        "tendency": method.tendency,
        "reference": method.sources,
        "cost": method.cost,
        "options": "; ".join(f"{name}: {option}" for name, option in method.options.items()),
        "with_groups": "no" if takes_groups_apart(method) else method.with_groups,
    }


def described(method: str, calls: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the full description of a registered method: headings and texts by title, its form for each metric apart.

    Parameters
    ----------
    method : str
        A name in `available_methods`.
    calls : mapping of str to str
        The call for each of "interval", "comparison" and "point estimate".
    """
    card: MethodCard = {**METHODS, **ESTIMATORS}[method]
    entries = _entries(card, calls)
    described = {f"{method}: {card.title}": entries}
    for output, form in card.variants.items():
        differing = {
            heading: text for heading, text in _entries(form, calls).items() if text != entries.get(heading)
        }
        described[f"{method} for the {METRIC_OF[output]}: {form.title}"] = differing
    if (
        isinstance(card, Method)
        and card.gives_interval
        and card.reads == "classes"
        and all(kind.of_every_metric for kind in card.needs)
    ):
        derived = (f"{metrics}: {how.title}; {how.reference}" for metrics, how in DERIVED.items())
        entries["derived"] = "; ".join(derived)
    return described


def _entries(card: MethodCard, calls: Mapping[str, str]) -> dict[str, str]:
    columns = row_of(card)
    words = DIFFERENCES if columns["gives"] == "comparison" else ERRORS
    aim = aim_of(Estimand.read(columns["estimand"]), METRIC_OF[card.reads], words)
    size = " (n1: those in the training part of a split)" if aim and "n1" in aim else ""
    columns |= {
        "symbols": card.symbols,
        "estimand": columns["estimand"] if aim is None else f"{columns['estimand']}: {aim}{size}",
        "gives": " and ".join(f"{what} ({calls[what]})" for what in columns["gives"].split(" and ")),
    }
    return {
        heading: columns[column] or "none"
        for heading, column in HEADINGS.items()
        if columns[column] or column not in ("symbols", "tendency")
    }
