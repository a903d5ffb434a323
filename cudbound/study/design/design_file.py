"""Design files: a study as a TOML file, checked before anything is run."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from cudbound.basis.hints import did_you_mean
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_integer
from cudbound.study.design.published import PublishedTable, PublishedValue
from cudbound.study.design.scenario import Scenario, Study
from cudbound.study.design.scenario_tables import read_scenario
from cudbound.study.design.trial import try_scenario
from cudbound.study.schema import placed, structured


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
    if name not in template_names():
        hint = did_you_mean(name, template_names(), "the templates are")
        raise ValueError(f"there is no template {name!r}; {hint}")
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
    with placed(path.name):
        table = _read_toml(path)
        tables = _tables(table, "scenario")
        if n_replicates is not None:
            check_integer("n_replicates", n_replicates, 1)
            for one in (table, *(one for one in tables if "n_replicates" in one)):
                one["n_replicates"] = n_replicates
        scenarios: list[Scenario] = []
        for number, one in enumerate(tables, start=1):
            with placed(f"[[scenario]] {number}"):
                scenarios.append(read_scenario(one, folder=path.parent, data_folder=data_folder))
        published: list[PublishedValue] = []
        for number, one in enumerate(_tables(table, "published"), start=1):
            with placed(f"[[published]] {number}"):
                published += structured(one, PublishedTable).each()
        methods = "paper" if all(one.make_rival is None for one in scenarios) else "all"
        settings = {"name": path.stem, "methods": methods, **table}
        study = structured(settings | {"scenario": scenarios, "published": published}, Study)
        for number, scenario in enumerate(study.scenarios, start=1):
            with placed(f"[[scenario]] {number}"):
                try_scenario(scenario, study.sizes_of(scenario), study.find_methods())
    return study


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise ValueError("no such file; 'cudbound study new' writes one to begin with") from error
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ValueError("not a text file in UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"not TOML: {error}") from error


def _tables(table: dict[str, Any], key: str) -> list[dict[str, Any]]:
    tables = table.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise ParameterError(key, f"tables [[{key}]]", tables)
    if key == "scenario" and not tables:
        raise ValueError('there must be at least one table [[scenario]], such as world = "gaussians"')
    return tables
