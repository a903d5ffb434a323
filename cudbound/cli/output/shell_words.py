"""What the package says to users of Python, in the words of the command."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, TypeVar

#: A table of intervals, of comparisons or of pairs.
AnyTable = TypeVar("AnyTable", bound=Any)

#: What Python calls a thing in remarks, warnings and errors, and what is typed at the shell.
PHRASES = (
    (r"\b([Rr])aise n_resamples\b", r"\1aise --resamples"),
    (r"\bpass inner=(\d+)", r"add --inner \1"),
    (r"\binner='oob'", "--inner oob"),
    (r"\bfallback=True\b", "--fallback"),
    (r"\bpolish=True\b", "--polish"),
    (r"\bsolver=['\"]cvxpy['\"]", "--solver cvxpy"),
    (r"\bcap=False\b", "--option two-center.cap=false"),
    (r"\bleave sample_weight out\b", "leave --weight out"),
    (r"\bmetric='error'", "--metric error"),
    (r"\bwith one n_splits\b", "with one --size n_splits=N"),
    (r"\buse compare_learners\b", "use 'cudbound compare-learners'"),
    (r"\buse compare_intervals\b", "use 'cudbound interval'"),
)


def at_the_shell(text: str) -> str:
    """Return a text in which arguments of Python are options of the command.

    Examples
    --------
    >>> at_the_shell("no standard error with 3 points never out of bag, raise n_resamples")
    'no standard error with 3 points never out of bag, raise --resamples'
    """
    for pattern, words in PHRASES:
        text = re.sub(pattern, words, text)
    return text


def table_at_the_shell(table: AnyTable) -> AnyTable:
    """Return a table whose remarks and reasons are in the words of the command."""
    from cudbound.tables.pairwise import PairTable

    written: AnyTable
    if isinstance(table, PairTable):
        pairs = (replace(pair, comparison=_row_at_the_shell(pair.comparison)) for pair in table)
        written = replace(table, pairs=tuple(pairs))
    else:
        written = replace(table, rows=tuple(map(_row_at_the_shell, table.rows)))
    return written


def _row_at_the_shell(row: Any) -> Any:
    return replace(
        row,
        remarks=tuple(map(at_the_shell, row.remarks)),
        degenerate=None if row.degenerate is None else at_the_shell(row.degenerate),
    )
