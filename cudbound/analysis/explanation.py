"""A full description of one method from its card: formula, target, assumptions and known behavior."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from cudbound.analysis.available_methods import available_methods, row_of
from cudbound.basis.calls import public_call
from cudbound.basis.exceptions import ParameterError, suggestion
from cudbound.basis.method_card import MethodCard
from cudbound.basis.outcomes import Estimand
from cudbound.intervals import GROUPS, METHODS, Method
from cudbound.metrics.predictive import DERIVED
from cudbound.point_estimates import ESTIMATORS
from cudbound.report.sentences import DIFFERENCES, ERRORS, aim_of
from cudbound.report.tables import Column, Report

if TYPE_CHECKING:
    import pandas as pd

#: Columns of text.
LINE, INDENT = 80, 15
#: The entries, in this order, by the columns of `cudbound.available_methods`.
HEADINGS = {
    "gives": "gives",
    "estimand": "aims at",
    "formula": "formula",
    "symbols": "symbols",
    "assumptions": "assumes",
    "tendency": "tendency",
    "reference": "reference",
    "cost": "fits",
    "options": "options",
    "groups": "groups",
}
#: The Python call for each kind of result.
CALLS = {
    "interval": "compare_intervals",
    "comparison": "compare_learners",
    "point estimate": "estimate_error",
}
#: The metrics that read an output of the classifier.
METRIC_OF: Mapping[str, str] = {"classes": "error", "scores": "AUC", "probabilities": "Brier score"}
#: Options that a method does not have.
NONE = "none"


@dataclass(frozen=True, repr=False)
class Explanation:
    """A full description of one method; prints as text.

    Attributes
    ----------
    name, title : str
    entries : mapping of str to str
        The texts by heading.
    others : tuple of Explanation
        The method as it is for other metrics, each with the entries that differ.
    """

    name: str
    title: str
    entries: Mapping[str, str]
    others: tuple[Explanation, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return its row of `cudbound.available_methods`."""
        return available_methods().loc[[self.name.partition(" ")[0]]]

    def report(self) -> Report:
        """Return it as a table of two columns."""
        rows = tuple(
            {"what": what, "text": text}
            for one in (self, *self.others)
            for what, text in ({} if one is self else {one.name: one.title} | dict(one.entries)).items()
        )
        columns = (Column("what", self.name, "text"), Column("text", self.title, "text", LINE - INDENT))
        return Report("methods", f"The method {self.name}", (), columns, rows, self.to_frame)

    def __str__(self) -> str:
        lines = [*textwrap.wrap(f"{self.name}: {self.title}", LINE, break_on_hyphens=False), ""]
        for what, text in self.entries.items():
            lines += textwrap.wrap(
                f"{what:<{INDENT}}{text}", LINE, subsequent_indent=" " * INDENT, break_on_hyphens=False
            )
        return "\n\n".join(("\n".join(lines), *map(str, self.others)))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        items = "".join(
            f"<dt>{escape(what)}</dt><dd>{escape(text)}</dd>" for what, text in self.entries.items()
        )
        more = "".join(one._repr_html_() for one in self.others)
        return f"<p><b>{escape(self.name)}</b>: {escape(self.title)}</p><dl>{items}</dl>{more}"


@public_call
def explain(method: str) -> Explanation:
    """Describe one method in full: formula, target, assumptions, tendency, source, cost and options.

    Parameters
    ----------
    method : str
        One of those that `cudbound.available_methods` lists: an interval, a comparison or a point estimate.

    Returns
    -------
    Explanation
        Prints as text with at most 80 columns, and in a notebook as a list.

    Raises
    ------
    ValueError
        If no method has that name; the message suggests similar names.

    Examples
    --------
    >>> from cudbound import explain
    >>> print(str(explain("kohavi-normal"))[:151])
    kohavi-normal: Normal interval with binomial variance around the .632 estimate
    <BLANKLINE>
    gives          interval (compare_intervals)
    aims at        conditional:
    """
    known = [*METHODS, *ESTIMATORS]
    if isinstance(method, str) and method in GROUPS:
        raise ParameterError(
            "method", f"one method; {method!r} stands for {', '.join(GROUPS[method])}", method
        )
    if method not in known:
        meant = suggestion(method, known)
        rule = "a name in available_methods()" if meant else f"one of {', '.join(known)}"
        raise ParameterError("method", rule, method, meant)
    return explanation_of(method, CALLS)


def explanation_of(method: str, calls: Mapping[str, str]) -> Explanation:
    """Explain a known method; `calls` has the call for each of "interval", ...."""
    card: MethodCard = {**METHODS, **ESTIMATORS}[method]
    entries = _entries(card, calls)
    others = []
    for kind, one in card.variants.items():
        differ = {what: text for what, text in _entries(one, calls).items() if text != entries.get(what)}
        others.append(Explanation(f"{method} for the {METRIC_OF[kind]}", one.title, differ))
    if (
        isinstance(card, Method)
        and card.gives_interval
        and card.reads == "classes"
        and all(kind.of_every_metric for kind in card.needs)
    ):
        entries["derived"] = "; ".join(
            f"{metrics}: {how.title}; {how.reference}" for metrics, how in DERIVED.items()
        )
    return Explanation(card.name, card.title, entries, tuple(others))


def _entries(card: MethodCard, calls: Mapping[str, str]) -> dict[str, str]:
    said = row_of(card)
    said["symbols"] = card.symbols
    said["estimand"] = _aim(said["estimand"], METRIC_OF[card.reads], said["gives"] == "comparison")
    said["gives"] = " and ".join(f"{what} ({calls[what]})" for what in said["gives"].split(" and "))
    return {
        heading: said[column] or NONE
        for column, heading in HEADINGS.items()
        if said[column] or column != "symbols"
    }


def _aim(estimand: str, what: str, only_compares: bool) -> str:
    words = aim_of(Estimand.read(estimand), what, DIFFERENCES if only_compares else ERRORS)
    size = " (n1: those in the training part of a split)" if words and "n1" in words else ""
    return estimand if words is None else f"{estimand}: {words}{size}"
