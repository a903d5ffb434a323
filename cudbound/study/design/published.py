"""Published results of the same experiment, for comparison with those of a study."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd


#: Measures that can be compared with published values, with their column in the cells.
MEASURES: Mapping[str, str] = MappingProxyType(
    {
        "coverage": "coverage",
        "width": "width",
        "rejection": "rejection",
        # of the hypothesis that the expected error, or difference, is what it is
        "type I error": "missed_expected",
        # the share of the variance of the estimate that the method's own variance leaves out on average
        "missing share of variance": "se_ratio",
    }
)


@dataclass(frozen=True)
class PublishedValue:
    """A published value.

    Attributes
    ----------
    scenario, method : str
    n : int
    measure : str
        One of `MEASURES`.
    value : float
    source : str
        The publication and place.

    Raises
    ------
    ValueError
        If the measure is unknown, or the value is not finite.
    """

    scenario: str
    method: str
    n: int
    measure: str
    value: float
    source: str

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            raise ParameterError("measure", f"one of {list(MEASURES)}", self.measure)
        if not math.isfinite(self.value):
            raise ParameterError("value", "finite", self.value)
        check_integer("n", self.n, 1)


@dataclass(frozen=True)
class PublishedTable:
    """A table [[published]] of a design file: the values of one method and measure, one per size."""

    scenario: str
    method: str
    measure: str
    n: tuple[int, ...]
    values: tuple[float, ...]
    source: str

    def __post_init__(self) -> None:
        if len(self.n) != len(self.values):
            raise ParameterError("values", f"one per n of {list(self.n)}", list(self.values))

    def each(self) -> tuple[PublishedValue, ...]:
        """Return the values one by one."""
        return tuple(
            PublishedValue(self.scenario, self.method, n, self.measure, value, self.source)
            for n, value in zip(self.n, self.values, strict=True)
        )


def beside_published(cells: pd.DataFrame, published: Sequence[PublishedValue]) -> pd.DataFrame:
    """Compare the results of a study with published values.

    Parameters
    ----------
    cells : pandas.DataFrame
        `cudbound.study.measure.summary.Summary.cells`.
    published : sequence of PublishedValue

    Returns
    -------
    pandas.DataFrame
        One row per published value with a matching cell and method, in their order. Columns: scenario, n, method,
        measure, value and mcse (of the study), published, difference (value - published), source.

    Examples
    --------
    >>> import pandas as pd
    >>> cells = pd.DataFrame([{"scenario": "null", "n": 30, "method": "cud", "width": 0.5, "width_mcse": 0.01}])
    >>> values = [PublishedValue("null", "cud", 30, "width", 0.45, "table 1"),
    ...     PublishedValue("null", "cud", 50, "width", 0.4, "table 1")]
    >>> beside_published(cells, values)[["n", "value", "published"]]
        n  value  published
    0  30    0.5       0.45
    """
    import pandas as pd

    found = {(cell["scenario"], cell["n"], cell["method"]): cell for _, cell in cells.iterrows()}
    rows = []
    for one in published:
        key = (one.scenario, one.n, one.method)
        if key in found:
            column = MEASURES[one.measure]
            value, mcse = found[key][column], found[key][f"{column}_mcse"]
            if column == "se_ratio":
                value, mcse = 1.0 - value**2, 2.0 * value * mcse
            beside = {"value": value, "mcse": mcse, "published": one.value, "difference": value - one.value}
            rows.append(asdict(one) | beside)
    names = ["scenario", "n", "method", "measure", "value", "mcse", "published", "difference", "source"]
    return pd.DataFrame(rows, columns=names)
