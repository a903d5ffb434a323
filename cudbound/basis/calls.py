"""What public calls share: hints for unknown keywords, one progress bar, and warnings with the caller's line."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from cudbound.basis.bars import current_progress, shared
from cudbound.basis.feature_table import check_in_memory
from cudbound.basis.hints import did_you_mean
from cudbound.basis.refit_warnings import collected

PACKAGE = str(Path(__file__).parents[1] / "_").removesuffix("_")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Made = TypeVar("Made")

#: Keywords that people bring, the parameter that answers them ("" where that is none), and what is said of it.
HINTS = (
    ("alpha", "confidence_level", "the level of the intervals is confidence_level, which is 1 - alpha"),
    ("alpha", "localization", "the rate alpha_n of the CUD bound is localization"),
    ("alpha", "bound", "the rate alpha_n of the CUD bound is in bound=Bound(localization=...)"),
    ("alpha localization", "problem", "the rate alpha_n is localization of Problem.of(...)"),
    ("random_state seed", "rng", "use rng, such as rng=0"),
    ("n_boot n_bootstrap n_bootstraps B", "n_resamples", "use n_resamples"),
    ("pos_label positive", "event", 'use event, the label of the event, such as event="ill"'),
    ("copies cv inner on_single_class sizes", "resampling", "it is in resampling=Resampling({name}=...)"),
    ("localization polish", "bound", "it is in bound=Bound({name}=...)"),
    ("limits", "bound", "they are in bound=Bound(limits=SearchLimits(...))"),
    ("solver", "bound", 'it is in bound=Bound(limits=SearchLimits(solver="cvxpy"))'),
    ("solver", "limits", 'it is in limits=SearchLimits(solver="cvxpy")'),
    (
        "options fallback",
        "methods",
        'pass options together with their method, as in methods=[("cud", {{"fallback": True}})]',
    ),
    (
        "options fallback",
        "method",
        'pass options together with their method, as in method=("cud", {{"fallback": True}})',
    ),
    (
        "sample_weight",
        "",
        "weights of rows are for performance_interval, compare_intervals, cud_interval and clinical_report",
    ),
    ("progress", "", "it is a setting of the process, cudbound.set_config(progress=...)"),
    ("search", "all_draws", "all_draws=True solves every draw completely"),
)


def public_call(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a public function explain unknown keywords and rows that it cannot read, and share one progress bar.

    Examples
    --------
    >>> @public_call
    ... def drawn(n_resamples: int = 10) -> int:
    ...     return n_resamples
    >>> drawn(n_boot=5)
    Traceback (most recent call last):
    TypeError: drawn() got an unexpected keyword argument 'n_boot': use n_resamples
    """
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*values: Parameters.args, **named: Parameters.kwargs) -> Result:
        _refuse(function.__qualname__, known, named)
        for name, value in [*zip(known, values, strict=False), *named.items()]:
            check_in_memory(name, value)
        with shared(current_progress()), collected() as heard:
            result = function(*values, **named)
        if heard is not None and heard.warning is not None:
            warn(heard.warning)
        return result

    return call


def public_settings(made: type[Made]) -> type[Made]:
    """Make a dataclass explain unknown keywords, as `public_call` does."""
    make = made.__init__
    known = inspect.signature(made).parameters

    @functools.wraps(make)
    def make_or_refuse(self: object, *values: Any, **named: Any) -> None:
        _refuse(made.__qualname__, known, named)
        make(self, *values, **named)

    made.__init__ = make_or_refuse  # type: ignore[method-assign]  # a dataclass has no other place for it
    return made


def _refuse(function: str, known: Mapping[str, inspect.Parameter], given: Iterable[str]) -> None:
    """Raise TypeError, as Python does, for an unknown keyword, and name the one to use instead."""
    takes_options = any(one.kind is one.VAR_KEYWORD for one in known.values())
    for name in given:
        if name in known:
            continue
        hints = [
            text.format(name=name)
            for names, parameter, text in HINTS
            if name in names.split() and (not parameter or parameter in known)
        ]
        if hints or not takes_options:
            meant = "; ".join(hints) or did_you_mean(name, known, "the arguments are")
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}: {meant}")


def warn(message: Warning | str, category: type[Warning] | None = None) -> None:
    """Issue a warning that points at the calling line outside this package; `category` is for a text."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
