"""What a saved result consists of, field by field, and how it becomes a file and is read again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from cudbound.audit.json_fields import (
    FLAG,
    LABEL,
    NUMBER,
    PROPORTION,
    RATE,
    SCALAR,
    TEXT,
    CountMatrix,
    Digest,
    Flag,
    Label,
    Matrix,
    Number,
    Rate,
    Seed,
    Text,
    Vector,
    VectorOrNone,
    check,
    choice,
    either,
    integer,
    is_text,
    list_of,
    mapping_to,
    number,
    object_of,
    optional,
    parse,
    read_object,
    write_object,
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
#: Rows of a training set, bootstrap draws, and inner draws of each draw.
MAX_ROWS, MAX_DRAWS, MAX_INNER = 10_000_000, 1_000_000, 100_000
#: Localization rates that depend on the number of rows.
NAMED_RATES = ("n", "paper-literal")

_SHARE, _COST = number(0.0, 1.0 + 1e-9), number(0.0, 1e100)
_PAIR = list_of(LABEL, 2, 2)
_LIMIT = optional(RATE)
_OPTION = optional(SCALAR)
_LOCALIZATION = either(choice(NAMED_RATES), RATE, NAMED_RATES.__contains__)


@dataclass(frozen=True)
class SavedMetric:
    """A metric that is linear in the losses: the fields of `cudbound.Metric`."""

    name: Text
    shares: Annotated[tuple[float, float] | None, optional(list_of(_SHARE, 2, 2))]
    costs: Annotated[tuple[float, float], list_of(_COST, 2, 2)]
    complement: Flag

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

    metrics: Annotated[
        tuple[str | SavedMetric, ...],
        list_of(either(TEXT, object_of(SavedMetric), is_text), 1, 100),
    ]
    joint: Flag
    prevalence: Annotated[float | str | None, optional(either(choice(("sample",)), PROPORTION, is_text))]
    stratified: Annotated[bool | None, optional(FLAG)]


@dataclass(frozen=True)
class SavedData:
    """The training set: its fingerprint and its labels' names, and no row of it."""

    fingerprint: Digest
    n_samples: Annotated[int, integer(1, MAX_ROWS)]
    classes: Annotated[tuple[Any, Any], _PAIR]
    event: Label
    grouped: Flag
    weighted: Flag


@dataclass(frozen=True)
class SavedClassifier:
    """The classifier as the draws have it: a sign of coefficients times rows, and the loss that it minimizes.

    `classes` are those of a negative and of a positive score; `class_weights` belong to them in this order.
    """

    words: Text
    rows: Annotated[str, choice(ROWS)]
    classes: Annotated[tuple[Any, Any], _PAIR]
    coefficients: Vector
    loss: Text
    penalty: VectorOrNone
    l1_penalty: VectorOrNone
    class_weights: Annotated[tuple[float, float] | None, optional(list_of(number(0.0, 1e300), 2, 2))]
    offset: Number


@dataclass(frozen=True)
class SavedSettings:
    """The arguments that decide numbers."""

    confidence_level: Annotated[float, PROPORTION]
    localization: Rate
    seed: Seed
    asked: Annotated[SavedAsked, object_of(SavedAsked)]
    search: Annotated[str, choice(("quantile", "all"))]
    solver: Annotated[str, choice(("native", "cvxpy"))]
    polish: Flag
    limits: Annotated[Mapping[str, float | None], mapping_to(_LIMIT)]


@dataclass(frozen=True)
class SavedLimits:
    """The interval of one metric by the CUD bound: both limits, whatever the alternative of a table is."""

    metric: Annotated[SavedMetric, object_of(SavedMetric)]
    estimate: Number
    q: Number
    low: Number
    high: Number


@dataclass(frozen=True, eq=False)
class SavedBound:
    """What was proved about the draws of one metric, or of several that hold together: those of the first come first.

    The bounds of several are on the scale of their mean losses, [0, 1]; those of one are on the scale of the metric.
    """

    intervals: Annotated[tuple[SavedLimits, ...], list_of(object_of(SavedLimits), 1, 100)]
    lower: Vector
    upper: Vector
    status: Annotated[tuple[str, ...], list_of(choice(STATUSES), 0, 100 * MAX_DRAWS)]
    witness: Matrix


@dataclass(frozen=True)
class SavedRow:
    """A row of a table; null stands for what could not be computed."""

    method: Text
    metric: Text
    estimate: Annotated[float | None, optional(NUMBER)]
    low: Annotated[float | None, optional(NUMBER)]
    high: Annotated[float | None, optional(NUMBER)]


@dataclass(frozen=True)
class SavedTable:
    """Further arguments of `cudbound.compare_intervals`, and the rows that it returned.

    `given` names what cannot be stored: splits and test cases of the caller.
    """

    methods: Annotated[str | tuple[str, ...], either(TEXT, list_of(TEXT, 1, 200), is_text)]
    alternative: Annotated[str, choice(("two-sided", "less", "greater"))]
    localization: Annotated[str | float, _LOCALIZATION]
    inner: Annotated[int | str | None, optional(either(choice(("oob",)), integer(1, MAX_INNER), is_text))]
    on_single_class: Annotated[str | None, optional(TEXT)]
    options: Annotated[Mapping[str, Mapping[str, Any]], mapping_to(mapping_to(_OPTION))]
    sizes: Annotated[Mapping[str, Any], mapping_to(_OPTION)]
    cv: Annotated[int | None, optional(integer(2, MAX_ROWS))]
    fallback: Flag
    given: Annotated[tuple[str, ...], list_of(choice(("cv", "test_set")), 0, 2)]
    rows: Annotated[tuple[SavedRow, ...], list_of(object_of(SavedRow), 1, 2_000)]


@dataclass(frozen=True)
class SavedCommand:
    """How the command read its file and what it fitted: the options of ``cudbound interval``."""

    target: Text
    positive: Text
    features: Annotated[tuple[str, ...], list_of(TEXT)]
    categorical: Annotated[tuple[str, ...], list_of(TEXT)]
    exclude: Annotated[tuple[str, ...], list_of(TEXT)]
    missing: Text
    delimiter: Text
    group: Annotated[str | None, optional(TEXT)]
    weight: Annotated[str | None, optional(TEXT)]
    classifier: Annotated[str | None, optional(TEXT)]
    options: Annotated[Mapping[str, Any], mapping_to(_OPTION)]
    standardize: Flag
    threshold: Annotated[float | None, optional(NUMBER)]
    folds: Annotated[int | None, optional(integer(2, MAX_ROWS))]


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

    versions: Annotated[Mapping[str, str], mapping_to(TEXT)]
    data: Annotated[SavedData, object_of(SavedData)]
    settings: Annotated[SavedSettings, object_of(SavedSettings)]
    counts: CountMatrix
    classifier: Annotated[SavedClassifier | None, optional(object_of(SavedClassifier))]
    bounds: Annotated[tuple[SavedBound, ...], list_of(object_of(SavedBound), 0, 100)]
    table: Annotated[SavedTable | None, optional(object_of(SavedTable))]
    command: Annotated[SavedCommand | None, optional(object_of(SavedCommand))]

    def to_text(self) -> str:
        """Return the text of the file; floating-point numbers are written so that they read back to the bit.

        Raises
        ------
        SavedResultError
            If the file would be larger than what is read.
        """
        body = write_object(self)
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
        saved = read_object(cls, "", found)
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
