"""Design files: a study as a TOML file, checked before anything is run."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from cudbound.inputs.bounded_file import TooLargeError, read_bounded
from cudbound.inputs.csv_file import quoted
from cudbound.intervals import GROUPS, METHODS, Method, find_comparisons, find_methods
from cudbound.method_card import check_options
from cudbound.resampling import ResamplingSizes
from cudbound.study.design.identity import renamed
from cudbound.study.design.published import PublishedValue
from cudbound.study.design.scenario import Scenario, Study
from cudbound.study.design.scenario_tables import RIVAL, check_known, check_sizes, read_scenario
from cudbound.study.design.trial import try_scenario
from cudbound.validation import check_integer, check_localization

#: What a design file may say outside its tables of scenarios.
SETTINGS = tuple(one.name for one in fields(Study) if one.name not in ("scenarios", "published"))
#: Bytes, characters of a line, and levels of tables that a design file may have, and characters of a message on it.
MAX_DESIGN_BYTES = 2**20
MAX_LINE = 10_000
MAX_DEPTH = 20
MAX_MESSAGE = 2_000
#: Tables, each of which may stand several times.
TABLES = ("scenario", "published")
#: The keys of a table of published values.
PUBLISHED_KEYS = ("scenario", "method", "measure", "n", "values", "source")
#: What it must say.
REQUIRED = ("n_samples", "n_replicates")
#: How a check words its rule for an argument of Python.
_RULE = re.compile(r"The '(\w+)' parameter(?: of \w+)? must be (.*)\. Got (.*) instead\.?", re.DOTALL)


def template_names() -> tuple[str, ...]:
    """Return the names of the design files that ship with the package."""
    folder = files("cudbound.study.design") / "designs"
    return tuple(sorted(one.name.removesuffix(".toml") for one in folder.iterdir()))


def template_text(name: str) -> str:
    """Return a design file of the package, with its comments.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> print(template_text("quick").splitlines()[0])
    # Two simulated worlds and 20 replicates: a study that takes seconds, to see what one is.
    """
    check_known("there is no template", [name], template_names(), "the templates are")
    return (files("cudbound.study.design") / "designs" / f"{name}.toml").read_text(encoding="utf-8")


def read_design(
    path: str | Path, *, data_folder: str | Path | None = None, n_replicates: int | None = None
) -> Study:
    """Read a study from a design file.

    Parameters
    ----------
    path : str or Path
        The file. A ``csv`` that it names is looked for in its folder.
    data_folder : str, Path or None, default=None
        Folder of the real data sets; None takes the environment variable ``CUDBOUND_DATA``. Asked for only where a
        scenario names one of them.
    n_replicates : int or None, default=None
        Number of replicates, at least 1, in place of those of the file.

    Returns
    -------
    Study

    Raises
    ------
    ValueError
        If the file cannot be used: the message, one line, names the file, the table and the key, the rule and the
        value. Every classifier has then been fitted to one sample of its population of the smallest size.

    Guarantee
    ---------
    The same file, data and arguments give the same study, and the same results of `cudbound.run_study`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "quick.toml"
    ...     _ = path.write_text(template_text("quick"))
    ...     study = read_design(path, n_replicates=3)
    >>> study.name, study.n_replicates, len(study.scenarios)
    ('quick', 3, 2)
    """
    path = Path(path)
    with _at(path.name):
        table = renamed(_read_toml(path))
        settings = _settings(table, path.stem)
        if n_replicates is not None:
            settings["n_replicates"] = check_integer("n_replicates", n_replicates, 1)
        scenarios = _scenarios(table, path, data_folder)
        if n_replicates is not None:
            scenarios = tuple(
                replace(one, n_replicates=one.n_replicates and n_replicates) for one in scenarios
            )
        names = [scenario.name for scenario in scenarios]
        published = _published(table, names, settings["methods"])
        study = Study(scenarios=scenarios, published=published, **settings)
    methods = study.find_methods()
    for number, scenario in enumerate(scenarios, start=1):
        with _at(path.name, f"[[scenario]] {number}"):
            try_scenario(scenario, study.sizes_of(scenario), methods)
    return study


@contextmanager
def _at(*place: str) -> Iterator[None]:
    """Say in which file and table something is wrong, in the words of the file."""
    try:
        yield
    except ValueError as error:
        message = " ".join(_RULE.sub(r"\1 must be \2. Got \3.", str(error)).split())
        if len(message) > MAX_MESSAGE:
            message = f"{message[:MAX_MESSAGE]}..."
        raise ValueError(": ".join((*place, message))) from error


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        text = read_bounded(path, MAX_DESIGN_BYTES).decode("utf-8-sig")
        _check_lines(text)
        table = tomllib.loads(text)
    except TooLargeError as error:
        raise ValueError(f"the file {error}") from error
    except FileNotFoundError as error:
        raise ValueError("no such file; 'cudbound study new' writes one to begin with") from error
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ValueError("not a text file in UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not TOML: {error}") from error
    except RecursionError as error:
        raise ValueError(f"tables and lists are nested deeper than {MAX_DEPTH} levels") from error
    _check_depth(table)
    return table


def _check_lines(text: str) -> None:
    """Refuse a line whose keys would take minutes to read: the time grows with the square of their length."""
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > MAX_LINE:
            raise ValueError(
                f"line {number} has {len(line):,} characters, more than {MAX_LINE:,}; break its list into lines"
            )


def _check_depth(table: dict[str, Any]) -> None:
    level: list[Any] = [table]
    for _ in range(MAX_DEPTH):
        inner = [
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)
        ]
        level = [one for values in inner for one in values]
    if level:
        raise ValueError(f"tables and lists are nested deeper than {MAX_DEPTH} levels")


def _settings(table: Mapping[str, Any], stem: str) -> dict[str, Any]:
    """Return the arguments of `Study` that a file gives, but for the scenarios."""
    check_known("there is no setting", table, (*SETTINGS, *TABLES), "there are")
    for key in REQUIRED:
        if key not in table:
            raise ValueError(f"{key} is missing; add a line such as {key} = 30")
    # looked for before the scenarios are read, so that a wrong word is told before any data are loaded
    compares = any(RIVAL in one for one in _scenario_tables(table))
    found: dict[str, Any] = {"name": stem, "methods": "all" if compares else "paper"}
    found.update({key: value for key, value in table.items() if key not in TABLES})
    if not isinstance(found["name"], str) or not found["name"]:
        raise ValueError(f"name must be a text. Got {found['name']!r}.")
    found["n_samples"] = check_sizes(found["n_samples"])
    chosen = _chosen(found["methods"], compares=compares)
    found["methods"] = tuple(method.name for method in chosen)
    check_localization(found.get("localization", "n"), max(found["n_samples"]))
    options = found.get("options", {})
    if not isinstance(options, dict) or not all(isinstance(one, dict) for one in options.values()):
        raise ValueError(
            f"options must be tables such as [options.kohavi-normal], one for each method. Got {options!r}."
        )
    for name, given in options.items():
        with _at(f"options.{name}"):
            check_options({name: given}, chosen)
    if "sizes" in found:
        found["sizes"] = _sizes(found["sizes"])
    return found


def _chosen(methods: Any, *, compares: bool) -> tuple[Method, ...]:
    """Return the methods of one name, a group or a list of names."""
    if not isinstance(methods, str) and not (
        isinstance(methods, list) and methods and all(isinstance(one, str) for one in methods)
    ):
        raise ValueError(f"methods must be a group or a list of names. Got {methods!r}.")
    groups = ("all",) if compares else tuple(GROUPS)
    fitting = [one.name for one in METHODS.values() if (one.compares if compares else one.gives_interval)]
    names = [methods] if isinstance(methods, str) else methods
    check_known("methods: there is no", names, (*METHODS, *groups), "there are", (*groups, *fitting))
    return (find_comparisons if compares else find_methods)(methods)


def _sizes(table: Any) -> ResamplingSizes:
    if not isinstance(table, dict):
        raise ValueError(f"sizes must be a table such as [sizes] with n_folds = 5. Got {table!r}.")
    check_known("sizes has no key", table, [one.name for one in fields(ResamplingSizes)])
    with _at("sizes"):
        return ResamplingSizes(**table)


def _published(
    table: Mapping[str, Any], scenarios: Collection[str], methods: Collection[str]
) -> tuple[PublishedValue, ...]:
    """Return the published values: a table has those of one method and measure, one for each n."""
    found: list[PublishedValue] = []
    tables = table.get("published", [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise ValueError("published values must be tables [[published]]")
    for number, one in enumerate(tables, start=1):
        with _at(f"[[published]] {number}"):
            if sorted(one) != sorted(PUBLISHED_KEYS):
                raise ValueError(f"the keys must be {', '.join(PUBLISHED_KEYS)}. Got {', '.join(one)}.")
            sizes, values = one["n"], one["values"]
            if not (isinstance(sizes, list) and isinstance(values, list) and len(sizes) == len(values)):
                raise ValueError(f"n and values must be lists of one length. Got {sizes!r} and {values!r}.")
            texts = {name: one[name] for name in PUBLISHED_KEYS if name not in ("n", "values")}
            for name, value in texts.items():
                if not isinstance(value, str):
                    raise ValueError(f"{name} must be a text. Got {value!r}.")
            check_known("the study has no scenario", [one["scenario"]], scenarios, "it has")
            check_known("the study has no method", [one["method"]], methods, "it has")
            found.extend(
                PublishedValue(**texts, n=check_integer("n", n, 1), value=_finite(value))
                for n, value in zip(sizes, values, strict=True)
            )
    return tuple(found)


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"values must be finite numbers. Got {value!r}.")
    return float(value)


def _scenario_tables(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    tables = table.get("scenario", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        raise ValueError('there must be at least one table [[scenario]], such as world = "gaussians"')
    return tables


def _scenarios(table: Mapping[str, Any], path: Path, data_folder: str | Path | None) -> tuple[Scenario, ...]:
    found: list[Scenario] = []
    for number, one in enumerate(_scenario_tables(table), start=1):
        with _at(f"[[scenario]] {number}"):
            scenario = read_scenario(one, folder=path.parent, data_folder=data_folder)
            names = [earlier.name for earlier in found]
            if scenario.name in names:
                raise ValueError(
                    f"name {quoted(scenario.name)} is that of [[scenario]] {names.index(scenario.name) + 1}; "
                    "add a line name = ... with another one"
                )
            _check_samples(scenario, found)
        found.append(scenario)
    return tuple(found)


def _check_samples(scenario: Scenario, above: Collection[Scenario]) -> None:
    """Refuse samples of a scenario that does not stand above, has them from another, or draws from elsewhere."""
    if scenario.samples_of is None:
        return
    offered = {one.name: one.population for one in above if one.samples_of is None}
    check_known("samples_of: above it there is no scenario", [scenario.samples_of], offered, "there are")
    if offered[scenario.samples_of] != scenario.population:
        raise ValueError(
            f"samples_of names {quoted(scenario.samples_of)}, which has another world or other parameters; give "
            "both the same."
        )
