"""The file of a saved result: question, fingerprint, bounds of each draw, rows; and the outcome of its checks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.calls import versions
from cudbound.basis.exceptions import ParameterError, SavedResultError
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.validation import Splits, check_confidence_level, check_rng
from cudbound.bound.cud_bound import Bound, CudBound
from cudbound.metrics.metric import Metric
from cudbound.metrics.metrics import Metrics
from cudbound.report.render import Tabular
from cudbound.report.tables import FULL, Column, Report, Run, Style
from cudbound.resampling import Resampling

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.inputs.schema import Reader


FORMAT = "cudbound result 1"
#: What to do about a table, or the numbers of a report, that cannot be checked.
OF_SAVE = (
    "give the file that --save of 'cudbound interval' or 'cudbound report' wrote (in Python table.save or "
    "report.table.save), not a table or the page of a report; the same command with its seed and --save writes it"
)

Model = TypeVar("Model")
Scalar: TypeAlias = str | int | float | bool | None
Array: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True)
class SavedQuestion:
    """The question that a result answers, without the data.

    `named` are the methods that were requested by name. `passed_again` names arguments of the call that a file cannot
    contain: splits and test cases.
    """

    metric: Metrics
    confidence_level: float
    n_resamples: int
    bound: Bound
    rng: int | None
    methods: tuple[str, ...] = ("cud",)
    named: tuple[str, ...] = ("cud",)
    options: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    alternative: str = "two-sided"
    resampling: Resampling = field(default_factory=Resampling)
    passed_again: tuple[Literal["cv", "new_cases"], ...] = ()

    def __post_init__(self) -> None:
        check_confidence_level(self.confidence_level)
        check_rng(self.rng)


@dataclass(frozen=True)
class SavedInterval:
    """The interval of one metric by the CUD bound: both limits, regardless of the alternative of a table."""

    metric: Metric
    estimate: float
    q: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class SavedBound:
    """The proved bounds of the draws of one metric, or of several simultaneous ones, the first metric first.

    The bounds of several are on the scale of their mean losses, [0, 1]; those of one are on the scale of the metric.
    """

    intervals: tuple[SavedInterval, ...]
    lower: Array
    upper: Array
    witness: Array

    @classmethod
    def of(cls, bounds: Sequence[CudBound]) -> SavedBound:
        """Return the saved part of the bounds of one metric, or of several simultaneous ones."""
        draws = bounds[0].draws if bounds[0].joint is None else bounds[0].joint.draws
        intervals = (
            SavedInterval(cud.metric, cud.estimate, cud.q, *cud.confidence_interval) for cud in bounds
        )
        return cls(tuple(intervals), draws.lower, draws.upper, draws.witness)


@dataclass(frozen=True)
class SavedRow:
    """A row of a table; nan means that a number could not be computed."""

    method: str
    metric: str
    estimate: float
    low: float
    high: float

    @classmethod
    def of(cls, row: IntervalEstimate) -> SavedRow:
        """Return the saved part of a row."""
        return cls(row.method, row.metric, row.estimate, row.low, row.high)


@dataclass(frozen=True, eq=False)
class SavedResult:
    """The content of a saved result.

    Attributes
    ----------
    question : SavedQuestion
    fingerprint : str
        Fingerprint of the training set; the file contains no row of it.
    classifier : str
        Description of the classifier.
    counts : ndarray of int32, shape (n_draws, n_samples)
        The bootstrap draws: how often each row occurs in each draw.
    coefficients : ndarray of float or None
        Coefficients of the classifier, the center of the bounds; None if there is no bound.
    bounds : tuple of SavedBound
    rows : tuple of SavedRow
        Rows of a table; empty for the result of `cudbound.cud_interval`.
    command : object
        How the command read its file and what it fitted; None if the result comes from Python.
    versions : mapping of str to str
        Versions of Python and of the packages that results depend on.
    """

    question: SavedQuestion
    fingerprint: str
    classifier: str
    counts: Counts
    coefficients: Array | None = None
    bounds: tuple[SavedBound, ...] = ()
    rows: tuple[SavedRow, ...] = ()
    command: Any = None
    versions: Mapping[str, str] = field(default_factory=versions)

    def to_text(self) -> str:
        """Return the text of the file; all numbers are read back exactly, including infinite ones and nan."""
        body = {"format": FORMAT, **_reader().converter.unstructure(self)}
        parts = {"checksum": _checksum(body), **body}
        lines = [f"{json.dumps(name)}: {json.dumps(part, default=_plain)}" for name, part in parts.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def check_sizes(self) -> None:
        """Raise `SavedResultError` unless the parts are consistent."""
        p = 0 if self.coefficients is None else self.coefficients.size
        fit = self.counts.ndim == 2 and len(self.counts) == self.question.n_resamples
        fit = fit and bool(self.counts.any(axis=1).all() and (self.counts >= 0).all())
        fit = fit and (p > 0 or not self.bounds)
        for bound in self.bounds:
            size = (len(self.counts) * len(bound.intervals),)
            fit &= bound.lower.shape == bound.upper.shape == size and bound.witness.shape == (*size, p)
        if not fit:
            raise SavedResultError("its draws, bounds, witnesses and coefficients are inconsistent")


def read_saved(path: str | Path) -> tuple[SavedResult, bool]:
    """Return the content of a file, and whether it is unchanged: its checksum is that of its content.

    Raises
    ------
    SavedResultError
        If it is not a saved result; the message names the file and the first invalid field.
    OSError
        If it cannot be read.
    """
    content = Path(path).read_bytes()
    try:
        body = json.loads(content)
        if not isinstance(body, dict) or body.get("format") != FORMAT:
            raise SavedResultError(f"its format is not {FORMAT!r}; {OF_SAVE}")
        checksum = body.pop("checksum", None)
        intact = checksum == _checksum(body)
        del body["format"]
        saved = structured(body, SavedResult)
        saved.check_sizes()
    except SavedResultError as error:
        raise SavedResultError(f"saved result {str(path)!r}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise SavedResultError(f"saved result {str(path)!r}: it is not written in JSON; {OF_SAVE}") from error
    return saved, intact


def structured(body: Any, model: type[Model]) -> Model:
    """Convert a JSON object to a dataclass; raise `SavedResultError` if it is not one."""
    try:
        return _reader().structured(body, model)
    except ValueError as error:
        raise SavedResultError(str(error)) from error


def _checksum(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Convert a NumPy array or number to JSON."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufU":
        return value.tolist()
    raise SavedResultError(
        f"labels and options must be texts, numbers, true or false in a file; {value!r} is not"
    )


def _array(value: Any, kind: Any) -> NDArray[Any]:
    if not isinstance(value, list):
        raise ParameterError("", "a list", value)
    return np.array(value, dtype=get_args(get_args(kind)[1])[0])


def _metrics(value: Any, _: Any) -> Metrics:
    entries = [entry if isinstance(entry, str) else structured(entry, Metric) for entry in value["metric"]]
    return Metrics(**{**value, "metric": tuple(entries)})


@cache
def _reader() -> Reader:
    """Return what reads and writes the tables of a file; most results are never saved."""
    from cudbound.inputs.schema import Reader, names_of

    reader = Reader(names_of)
    converter, number = reader.converter, cast(Any, int | None)
    converter.register_structure_hook_func(lambda kind: np.ndarray in (get_origin(kind), kind), _array)
    converter.register_structure_hook(Metrics, _metrics)
    # of the splits of a call, a file has at most their number
    converter.register_structure_hook_func(
        lambda kind: kind == Splits | None, lambda value, _: converter.structure(value, number)
    )
    return reader


#: What came of a check, by whether it passed; None where it could not be made.
OUTCOMES = {True: "passed", False: "FAILED", None: "not checked"}


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes
    ----------
    name : str
        The subject of the check.
    passed : bool or None
        None if it could not be checked; `finding` has the reason.
    finding : str
    """

    name: str
    passed: bool | None
    finding: str

    @property
    def outcome(self) -> str:
        """``passed``, ``FAILED`` or ``not checked``."""
        return OUTCOMES[self.passed]


@dataclass(frozen=True, repr=False)
class ResultVerification(Tabular):
    """The result of `verify_result`; prints as a table, and has the output formats of other tables.

    Attributes
    ----------
    checks : tuple of Check
    intervals : tuple of str
        The intervals in the file, in words, if they were verified.
    """

    checks: tuple[Check, ...]
    intervals: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no check failed; a check that could not be made does not count."""
        return all(check.passed is not False for check in self.checks)

    @property
    def complete(self) -> bool:
        """Whether each of `checks` could be made; after a failed one others may be left out."""
        return all(check.passed is not None for check in self.checks)

    @property
    def sentence(self) -> str:
        """The result of all checks in words."""
        failed = [check.name for check in self.checks if check.passed is False]
        if failed == ["data"]:
            return "These are not the data of the saved result, so it is neither confirmed nor refuted."
        if failed:
            return f"The saved result is not confirmed: {len(failed)} of {len(self.checks)} checks failed."
        n_open = sum(check.passed is None for check in self.checks)
        left = f"; {n_open} could not be made" if n_open else ""
        return f"The saved result is confirmed: {len(self.checks) - n_open} checks passed{left}."

    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return the checks as a table; `run` and `style` have no effect."""
        frame = self.to_frame()
        columns = tuple(Column(name, name, "text") for name in frame.columns)
        rows: Any = tuple(frame.to_dict("records"))
        notes = (*self.intervals, self.sentence)
        return Report("checks", "Checks of a saved result", notes, columns, rows, self.to_frame)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per check, with the columns ``check``, ``outcome`` and ``found``."""
        import pandas as pd

        rows = [(check.name, check.outcome, check.finding) for check in self.checks]
        return pd.DataFrame(rows, columns=["check", "outcome", "found"])
