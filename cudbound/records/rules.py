"""Checks of recorded arrays and numbers: one rule per kind of field, with the same messages everywhere.

A class of recorded losses annotates its fields with the kinds below and derives from `Recorded`. Lists, tuples and
arrays of any numeric type are accepted, and converted to arrays of booleans, int64 or float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import Annotated, Any, Literal, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import Array, Losses, check_flag, check_integer, check_number

#: How far the rounding of a mean can take a loss beyond its range.
ROUNDING = 1e-9
#: Beyond what counts, and numbers of folds, can be.
TOO_LARGE = 2**31


@dataclass(frozen=True)
class Rule:
    """The rule for a field.

    Attributes
    ----------
    check : callable
        ``check(name, value) -> value``; raises ValueError.
    loss : bool
        Whether it contains losses, which are in [0, 1], or in [-1, 1] for differences.
    signed : bool
        Whether the losses of one classifier can also be negative, as an optimism can.
    of_rows : bool
        Whether each loss is that of one row, and no mean.
    optional : bool
        Whether None means that it was not recorded, also where the field has no default.
    """

    check: Callable[[str, Any], Any]
    loss: bool = False
    signed: bool = False
    of_rows: bool = False
    optional: bool = False


class Recorded:
    """Base of the frozen dataclasses of recorded losses: fields are checked on creation.

    A field that is None by default was then not recorded.

    Attributes
    ----------
    of_differences : bool
        Whether there are negative losses, which occur only for differences of two losses.
    """

    of_differences = False

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, rule in _rules(kind).items():
            value = getattr(self, name)
            if value is getattr(kind, name, self) or (value is None and rule.optional):
                continue  # a default needs no check
            checked_value = rule.check(name, value)
            values = np.asarray(checked_value if rule.loss and not getattr(self, "weighed", False) else 0.0)
            if (beyond := np.abs(values.astype(float)) > 1.0 + ROUNDING).any():
                within = "losses in [0, 1], or differences of two losses, in [-1, 1]"
                raise ParameterError(name, within, values[beyond].ravel()[0].item())
            object.__setattr__(self, name, checked_value)
            if rule.loss and not rule.signed and np.less(checked_value, 0.0).any():
                object.__setattr__(self, "of_differences", True)


@cache  # reading annotations takes longer than most checks
def _rules(kind: type) -> dict[str, Rule]:
    hints = get_type_hints(kind, include_extras=True)
    return {
        entry.name: part.__metadata__[0]
        for entry in fields(kind)
        for part in (hints[entry.name], *get_args(hints[entry.name]))
        if isinstance(getattr(part, "__metadata__", (None,))[0], Rule)
    }


def numeric(
    name: str, values: Any, n_dimensions: int, *, real: bool = False, gaps: bool = False
) -> NDArray[Any]:
    """Return a finite array of booleans, int64 or float64, without integer overflow; only the last if `real`.

    With `gaps`, nan means that a value could not be computed, as the score of a classifier of one class.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.array("rows of unequal length")
    if array.ndim != n_dimensions or array.size == 0 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"The '{name}' parameter must be a numeric array with {n_dimensions} dimension(s), rows of one length and "
            f"at least one value. Got shape {array.shape} and type {array.dtype} instead."
        )
    is_float = array.dtype.kind == "f"
    if not (np.isfinite(array) | (np.isnan(array) if gaps and is_float else False)).all():
        raise ValueError(f"The '{name}' parameter must be finite. Got nan or infinite values.")
    kinds = {"b": np.bool_, "f": np.float64}
    return array.astype(np.float64 if real else kinds.get(array.dtype.kind, np.int64), copy=False)


def check_errors(record: Recorded) -> None:
    """Raise ValueError if the losses of rows are not those of right and wrong predictions, as probabilities are not.

    They are 0, or one of two costs, or the differences of such losses.
    """
    kind: Any = type(record)
    names = [name for name, rule in _rules(kind).items() if rule.of_rows]
    for name in () if getattr(record, "weighed", False) else names:
        losses = getattr(record, name)
        sizes = np.unique(np.abs(np.asarray([] if losses is None else losses, dtype=np.float64)))
        costs = sizes[sizes > 0.0]
        if costs.size > 2 or (costs.size == 2 and sizes.size == 2):
            raise ParameterError(
                f"{kind.__name__}.{name}",
                "0 for a right prediction and 1, or the cost of an error in its class, for a wrong one",
                float(np.median(costs).round(3)),
                f" There are {sizes.size} different values. If they are probabilities, record whether the predicted "
                "class is wrong, or pass them as probabilities=, with metric='brier', for the Brier score.",
            )


def _probabilities(name: str, values: Any, n_dimensions: int) -> Array:
    array = numeric(name, values, n_dimensions, real=True, gaps=True)
    if (beyond := array[(array < 0.0) | (array > 1.0)]).size:
        raise ParameterError(name, "of probabilities in [0, 1]", float(beyond[0]))
    return array


def _of_halves(name: str, values: Any) -> Array:
    array = numeric(name, values, 2, real=True)
    if array.shape[1] != 2:
        raise ParameterError(name, "of shape (n_halvings, 2)", array.shape)
    return array


def _whole(name: str, values: Any, n_dimensions: int) -> NDArray[np.int64]:
    array = numeric(name, values, n_dimensions)
    numbers = array.astype(np.float64)
    wrong = (numbers < 0) | (numbers >= TOO_LARGE) | (numbers != np.floor(numbers))
    if wrong.any():
        rule = f"non-negative whole numbers below {TOO_LARGE}"
        raise ParameterError(name, rule, array[wrong].ravel()[0].item())
    return array.astype(np.int64, copy=False)


def _flags(name: str, values: Any) -> NDArray[np.bool_]:
    array = numeric(name, values, 1)
    if array.dtype.kind != "b" and not np.isin(array, (0, 1)).all():
        raise ParameterError(name, "True or False for each row", values)
    return array.astype(np.bool_, copy=False)


def _number_or_nan(name: str, value: Any, *, is_share: bool = False) -> float:
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    number = check_number(name, value, 0.0, math.inf)
    if is_share and number > 1.0 + ROUNDING:
        raise ParameterError(name, "a share in [0, 1], or nan if it was not recorded", value)
    return number


#: Losses, one for each row, or for each draw and row, or for repeats, folds and rows. A record has them or scores.
RowLosses = Annotated[Any, Rule(partial(numeric, n_dimensions=1), loss=True, of_rows=True, optional=True)]
DrawLosses = Annotated[Any, Rule(partial(numeric, n_dimensions=2), loss=True, of_rows=True)]
NestedFoldLosses = Annotated[Losses, Rule(partial(numeric, n_dimensions=3), loss=True, of_rows=True)]
_real, _with_gaps = partial(numeric, real=True), partial(numeric, real=True, gaps=True)
#: Means of losses.
Means = Annotated[Array, Rule(partial(_real, n_dimensions=1), loss=True)]
MeansOfEach = Annotated[Array, Rule(partial(_real, n_dimensions=2), loss=True)]
PairsOfMeans = Annotated[Array, Rule(_of_halves, loss=True)]
MeansWithGaps = Annotated[Array, Rule(partial(_with_gaps, n_dimensions=1), loss=True)]
MeanLoss = Annotated[float, Rule(partial(check_number, low=-math.inf, high=math.inf), loss=True)]
Optimism = Annotated[Array, Rule(partial(_with_gaps, n_dimensions=1), loss=True, signed=True)]
#: How often each row occurs in each draw, and numbers of folds and classes.
Counts = Annotated[NDArray[np.integer[Any]], Rule(partial(_whole, n_dimensions=2))]
RowNumbers = Annotated[NDArray[np.int64], Rule(partial(_whole, n_dimensions=1))]
Flags = Annotated[NDArray[np.bool_], Rule(_flags)]
Flag = Annotated[bool, Rule(check_flag)]
#: Scores or probabilities, one for each row, or for each draw or partition and row; nan if there is none.
RowScores = Annotated[Any, Rule(partial(_with_gaps, n_dimensions=1))]
DrawScores = Annotated[Any, Rule(partial(_with_gaps, n_dimensions=2))]
RowProbabilities = Annotated[Any, Rule(partial(_probabilities, n_dimensions=1))]
DrawProbabilities = Annotated[Any, Rule(partial(_probabilities, n_dimensions=2))]
#: Numbers on a scale of their own.
Numbers = Annotated[Array, Rule(partial(_real, n_dimensions=1))]
NumberOrNan = Annotated[float, Rule(_number_or_nan)]
Share = Annotated[float, Rule(partial(_number_or_nan, is_share=True))]
#: Numbers of rows, of repetitions, and of classifier fits.
Size = Annotated[int, Rule(partial(check_integer, smallest=1))]
MeanSize = Annotated[float, Rule(partial(check_number, low=1.0, high=float(TOO_LARGE)))]
FitCount = Annotated[int, Rule(partial(check_integer, smallest=0))]
Remarks = tuple[str, ...]


def check_same(what: Literal["shape", "length"], **arrays: NDArray[Any]) -> None:
    """Raise ValueError unless both arrays have the same shape, or the same number of rows."""
    sizes = {name: array.shape if what == "shape" else len(array) for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        names, values = (" and ".join(words) for words in (map(repr, sizes), map(str, sizes.values())))
        raise ValueError(f"{names} must have the same {what}. Got {values} instead.")


def check_outputs(record: Any, **of_rows: NDArray[Any]) -> None:
    """Raise ValueError unless a record has losses, scores or probabilities, each of the shape of its other field."""
    names = ("losses", "scores", "probabilities")
    outputs = {name: values for name in names if (values := getattr(record, name)) is not None}
    if not outputs:
        raise ParameterError("losses", "a numeric array, or None beside scores or probabilities", None)
    for name, values in outputs.items():
        check_same("shape", **{name: values}, **of_rows)


def check_ordered(lower: Array, upper: Array) -> None:
    """Raise ValueError unless every upper value has a lower value that does not exceed it."""
    check_same("length", lower=lower, upper=upper)
    if (lower > upper).any():
        place = int((lower > upper).argmax())
        raise ValueError(
            f"No value of 'lower' may be above that of 'upper'. Got {lower[place]:g} above {upper[place]:g}."
        )


def check_draws(counts: NDArray[np.integer[Any]], *, uneven: bool = False) -> None:
    """Raise ValueError unless every draw has as many rows as the training set or, with `uneven`, at least one."""
    sizes, n = counts.sum(axis=1), counts.shape[1]
    wrong = sizes < 1 if uneven else sizes != n
    if wrong.any():
        draw = int(wrong.argmax())
        rule = "at least one row" if uneven else f"n_samples = {n} rows, copies included"
        raise ValueError(
            "The 'counts' parameter must contain how often each row occurs in each draw, so a draw has "
            f"{rule}. Got {sizes[draw]} in draw {draw}. Convert row numbers to counts with np.bincount(drawn, "
            "minlength=n_samples), draw by draw; for draws of whole groups of rows pass uneven=True."
        )
