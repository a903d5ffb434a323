"""A full description of one method from its card: formula, target, assumptions and known behavior."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from cudbound.analysis.available_methods import available_methods
from cudbound.basis.calls import public_call
from cudbound.basis.hints import suggestion
from cudbound.basis.outcomes import Estimand
from cudbound.basis.parameter_error import ParameterError
from cudbound.intervals import GROUPS, METHODS
from cudbound.point_estimates import ESTIMATORS
from cudbound.report.estimands import DIFFERENCES, ERRORS, aim_of
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
    "fallback": "fallback",
    "groups": "groups",
}
#: The Python call for each kind of result.
CALLS = {
    "interval": "compare_intervals",
    "comparison": "compare_learners",
    "point estimate": "estimate_error",
}
#: Options and fallbacks that a method does not have.
NONE = "none"


@dataclass(frozen=True, repr=False)
class Explanation:
    """A full description of one method; prints as text.

    Attributes
    ----------
    name, title : str
    entries : mapping of str to str
        The texts by heading.
    """

    name: str
    title: str
    entries: Mapping[str, str]

    def to_frame(self) -> pd.DataFrame:
        """Return its row of `cudbound.available_methods`."""
        return available_methods().loc[[self.name]]

    def report(self) -> Report:
        """Return it as a table of two columns."""
        rows = tuple({"what": what, "text": text} for what, text in self.entries.items())
        columns = (Column("what", self.name, "text"), Column("text", self.title, "text", LINE - INDENT))
        return Report("methods", f"The method {self.name}", (), columns, rows, self.to_frame)

    def __str__(self) -> str:
        lines = [*textwrap.wrap(f"{self.name}: {self.title}", LINE, break_on_hyphens=False), ""]
        for what, text in self.entries.items():
            lines += textwrap.wrap(
                f"{what:<{INDENT}}{text}", LINE, subsequent_indent=" " * INDENT, break_on_hyphens=False
            )
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        items = "".join(
            f"<dt>{escape(what)}</dt><dd>{escape(text)}</dd>" for what, text in self.entries.items()
        )
        return f"<p><b>{escape(self.name)}</b>: {escape(self.title)}</p><dl>{items}</dl>"


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
    said = dict(available_methods().loc[method])
    said["symbols"] = {**METHODS, **ESTIMATORS}[method].symbols
    said["estimand"] = _aim(said["estimand"], only_compares=said["gives"] == "comparison")
    said["gives"] = " and ".join(f"{what} ({calls[what]})" for what in said["gives"].split(" and "))
    entries = {
        heading: said[column] or NONE
        for column, heading in HEADINGS.items()
        if said[column] or column != "symbols"
    }
    return Explanation(said["name"], said["title"], entries)


def _aim(estimand: str, *, only_compares: bool) -> str:
    words = aim_of(Estimand.read(estimand).kind, words=DIFFERENCES if only_compares else ERRORS)
    return estimand if words is None else f"{estimand}: {words}"
