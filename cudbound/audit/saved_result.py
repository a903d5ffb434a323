"""What a saved result consists of, field by field, and how it becomes a file and is read again."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from cudbound.audit.json_fields import (
    Between,
    Counts,
    Label,
    Matrix,
    Scalar,
    Vector,
    Words,
    check,
    parse,
    read_object,
    write,
)
from cudbound.exceptions import SavedResultError
from cudbound.metrics.metric import Metric
from cudbound.results import SolveStatus

FORMAT, VERSION = "cudbound result", 1
#: Largest file that is written, and read.
MAX_MB = 32
#: How the rows that coefficients multiply come from the features: as they are, after a column of ones, or through the
#: steps of the classifier, which then has to be at hand.
ROWS = ("features", "one and features", "classifier")
STATUSES = tuple(status.name.lower() for status in SolveStatus)

Share = Annotated[float, Between(0.0, 1.0)]
#: Of a class, as shares and weights are.
Pair = tuple[Annotated[float, Between(0.0, 1e100)], Annotated[float, Between(0.0, 1e100)]]


@dataclass(frozen=True)
class SavedMetric:
    """A metric that is linear in the losses: the fields of `cudbound.Metric`."""

    name: str
    shares: Pair | None
    costs: Pair
    complement: bool

    @classmethod
    def of(cls, metric: Metric) -> SavedMetric:
        """Return the fields of a metric."""
        return cls(metric.name, metric.shares, metric.costs, metric.complement)

    @property
    def metric(self) -> Metric:
        """The metric; raises `SavedResultError` where there can be no such one."""
        try:
            return Metric(self.name, self.shares, self.costs, self.complement)
        except ValueError as error:
            raise SavedResultError(f"its metric {self.name!r} is none: {error}") from error


@dataclass(frozen=True)
class SavedAsked:
    """What was asked to be bounded: metrics, or the names of predictive values; see `cudbound.Metrics`."""

    metrics: tuple[str | SavedMetric, ...]
    joint: bool
    prevalence: Annotated[str, Words(("sample",))] | Share | None
    stratified: bool | None


@dataclass(frozen=True)
class SavedData:
    """The training set: its fingerprint and its labels' names, and no row of it."""

    fingerprint: str
    n_samples: int
    classes: tuple[Label, Label]
    event: Label
    grouped: bool
    weighted: bool


@dataclass(frozen=True)
class SavedClassifier:
    """The classifier as the draws have it: a sign of coefficients times rows, and the loss that it minimizes.

    `classes` are those of a negative and of a positive score; `class_weights` belong to them in this order.
    """

    words: str
    rows: Annotated[str, Words(ROWS)]
    classes: tuple[Label, Label]
    coefficients: Vector
    loss: str
    penalty: Vector | None
    l1_penalty: Vector | None
    class_weights: Pair | None
    offset: float


@dataclass(frozen=True)
class SavedSettings:
    """The arguments that decide numbers."""

    confidence_level: float
    localization: Annotated[float, Between(0.0, math.inf)]
    seed: Annotated[int, Between(0, 2**256)] | None
    asked: SavedAsked
    search: Annotated[str, Words(("quantile", "all"))]
    solver: Annotated[str, Words(("native", "cvxpy"))]
    polish: bool
    limits: Mapping[str, float | None]


@dataclass(frozen=True)
class SavedLimits:
    """The interval of one metric by the CUD bound: both limits, whatever the alternative of a table is."""

    metric: SavedMetric
    estimate: float
    q: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class SavedBound:
    """What was proved about the draws of one metric, or of several that hold together: those of the first come first.

    The bounds of several are on the scale of their mean losses, [0, 1]; those of one are on the scale of the metric.
    """

    intervals: tuple[SavedLimits, ...]
    lower: Vector
    upper: Vector
    status: tuple[Annotated[str, Words(STATUSES)], ...]
    witness: Matrix


@dataclass(frozen=True)
class SavedRow:
    """A row of a table; null stands for what could not be computed."""

    method: str
    metric: str
    estimate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SavedTable:
    """Further arguments of `cudbound.compare_intervals`, and the rows that it returned.

    `given` names what cannot be stored: splits and test cases of the caller.
    """

    methods: str | tuple[str, ...]
    alternative: Annotated[str, Words(("two-sided", "less", "greater"))]
    localization: Annotated[str, Words(("n", "paper-literal"))] | float
    inner: Annotated[str, Words(("oob",))] | int | None
    on_single_class: str | None
    options: Mapping[str, Mapping[str, Scalar]]
    sizes: Mapping[str, Scalar]
    cv: int | None
    fallback: bool
    given: tuple[Annotated[str, Words(("cv", "test_set"))], ...]
    rows: tuple[SavedRow, ...]


@dataclass(frozen=True)
class SavedCommand:
    """How the command read its file and what it fitted: the options of ``cudbound interval``."""

    target: str
    positive: str
    features: tuple[str, ...]
    categorical: tuple[str, ...]
    exclude: tuple[str, ...]
    missing: str
    delimiter: str
    group: str | None
    weight: str | None
    classifier: str | None
    options: Mapping[str, Scalar]
    standardize: bool
    threshold: float | None
    folds: int | None


@dataclass(frozen=True, eq=False)
class SavedResult:
    """A result as a file holds it.

    Attributes
    ----------
    versions : mapping of str to str
        Of Python and the packages that decide numbers.
    data : SavedData
    settings : SavedSettings
    counts : ndarray of int32, shape (n_draws, n_samples)
        The bootstrap draws: how often each row stands in each.
    classifier : SavedClassifier or None
        None where there is no bound.
    bounds : tuple of SavedBound
    table : SavedTable or None
        None for the result of `cudbound.cud_interval`.
    command : SavedCommand or None
        None where the result comes from Python.
    """

    versions: Mapping[str, str]
    data: SavedData
    settings: SavedSettings
    counts: Counts
    classifier: SavedClassifier | None
    bounds: tuple[SavedBound, ...]
    table: SavedTable | None
    command: SavedCommand | None

    def to_text(self) -> str:
        """Return the text of the file; floating-point numbers are written so that they read back to the bit.

        Raises
        ------
        SavedResultError
            If the file would be larger than what is read.
        """
        body = write(self)
        head = {"format": FORMAT, "version": VERSION, "checksum": _checksum(body)}
        lines = [f"{json.dumps(name)}: {_dumps(value)}" for name, value in {**head, **body}.items()]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        if len(text) > MAX_MB * 2**20:
            raise SavedResultError(
                f"it would have {len(text) / 2**20:.0f} MB, and no more than {MAX_MB} are read again; save a result of "
                "fewer draws"
            )
        return text

    @classmethod
    def from_bytes(cls, content: bytes) -> tuple[SavedResult, bool]:
        """Return what a file holds, and whether it is as it was written: its checksum is that of its contents.

        Raises
        ------
        SavedResultError
            If it is no saved result of this version; the message names the first field that is wrong.
        """
        found = parse(content)
        form = found.pop("format", None)
        check(form == FORMAT, "format", f'"{FORMAT}"', form)
        version = found.pop("version", None)
        if version != VERSION:
            raise SavedResultError(
                f"it has version {version!r:.20} of the format, and this cudbound reads version {VERSION}; use the "
                "cudbound that wrote it"
            )
        checksum = found.pop("checksum", None)
        saved: SavedResult = read_object(cls, "", found)
        saved._check_sizes()
        return saved, checksum == _checksum(found)

    def _check_sizes(self) -> None:
        """Raise `SavedResultError` unless the parts fit each other."""
        n_draws, n = self.counts.shape[0], self.data.n_samples
        check(
            self.counts.shape[1] == n or not n_draws,
            "counts",
            f"lists of {n}, one count for each row",
            "another",
        )
        empty = self.counts.sum(axis=1) == 0
        check(not empty.any(), "counts", "draws of at least one row", "one of none")
        level = self.settings.confidence_level
        check(0.0 < level < 1.0, "settings.confidence_level", "between 0 and 1", level)
        check(self.data.event in self.data.classes, "data.event", "one of the classes", self.data.event)
        if not self.bounds:
            return
        if self.classifier is None or not n_draws:
            raise SavedResultError("it has bounds, but no classifier or no draws that they are of")
        p = self.classifier.coefficients.size
        for name in ("penalty", "l1_penalty"):
            value = getattr(self.classifier, name)
            check(value is None or value.size == p, f"classifier.{name}", f"a list of {p} or null", "another")
        for place, bound in enumerate(self.bounds):
            size = n_draws * len(bound.intervals)
            for name in ("lower", "upper", "status"):
                right = len(getattr(bound, name)) == size
                check(right, f"bounds[{place}].{name}", f"a list of {size}, one for each draw", "another")
            right = bound.witness.shape == (size, p)
            check(right, f"bounds[{place}].witness", f"{size} lists of {p} coefficients", "another")


def _dumps(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    except ValueError as error:
        raise SavedResultError(
            "it holds a number that is not finite, and JSON has no such numbers"
        ) from error


def _checksum(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
