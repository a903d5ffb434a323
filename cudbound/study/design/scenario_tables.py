"""One table [[scenario]] of a design file: which population, and which classifier."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from cudbound.hints import did_you_mean
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.csv_file import CsvError, quoted
from cudbound.metrics.asked import Metrics
from cudbound.study.design.identity import renamed
from cudbound.study.design.scenario import MAX_CASES, Scenario
from cudbound.study.populations.own_data import csv_population
from cudbound.study.populations.patients import Patients
from cudbound.study.populations.population import Population
from cudbound.study.populations.real_data import DataFolder, RealData
from cudbound.study.populations.worlds import WORLDS
from cudbound.validation import check_integer, check_number

#: Keys of a table that say what is fitted; "set" stands for the options of the classifier,
#: "tune" for the values among which they are chosen.
CLASSIFIER_KEYS = ("classifier", "set", "tune", "standardize", "select", "components", "degree")
#: And those of worlds with missing values; a CSV file has its own rule for them.
MISSING_KEYS = ("missing", "levels")
#: The key of a table of the same keys, for a second learning algorithm that the first is compared with.
RIVAL = "rival"
#: The key for what is studied in place of the error: one metric, or a list of those that are to be covered together.
METRIC = "metric"
#: Keys of several rows for each patient: how many, how alike, and whether the methods are told whose they are.
PATIENT_KEYS = ("rows_per_patient", "many_rows", "within_patient", "groups")
#: Numbers of one scenario in place of those of the study.
OWN_NUMBERS = ("n_samples", "n_replicates", "n_resamples")
#: The key for another scenario whose samples are taken.
SAMPLES_OF = "samples_of"
#: Metrics whose truth is found on a large sample, and what some of them need: a prevalence, and costs.
STUDIED = ("sensitivity", "specificity", "balanced-error", "ppv", "npv", "cost")
METRIC_KEYS = ("prevalence", "costs")
#: Keys that say what is drawn from; exactly one of them stands in a table.
SOURCES = ("world", "data", "csv")
#: Further keys of a table with data, and with a CSV file.
DATA_KEYS = ("target", "device")
CSV_KEYS = ("target", "positive", "features", "categorical", "exclude", "missing", "delimiter", "device")
#: Those of them whose values are lists of columns.
LISTS = ("categorical", "exclude", "features")


def check_known(
    what: str,
    names: Iterable[str],
    known: Collection[str],
    otherwise: str = "the keys are",
    offered: Collection[str] = (),
) -> None:
    """Refuse the first name that is not known, with a hint at one of those that are offered, or else at a known one.

    Raises
    ------
    ValueError
        The message is `what`, the name, and the hint of `did_you_mean`.
    """
    for name in names:
        if name not in known:
            raise ValueError(f"{what} {quoted(name)}; {did_you_mean(name, offered or known, otherwise)}")


def read_scenario(table: Mapping[str, Any], *, folder: Path, data_folder: str | Path | None) -> Scenario:
    """Return the scenario that a table describes.

    Parameters
    ----------
    table : mapping
        The keys and values of the table.
    folder : Path
        Where a relative ``csv`` is looked for.
    data_folder : str, Path or None
        Folder of the real data sets; None takes the environment variable ``CUDBOUND_DATA``.

    Raises
    ------
    ValueError
        If a key is unknown or missing, a value is out of range, or the data cannot be used.
    """
    table = renamed(table)
    sources = [key for key in SOURCES if key in table]
    if len(sources) != 1:
        found = f"Got {' and '.join(sources)}." if sources else "Got none of them."
        raise ValueError(f"the population must be named by one of world, data and csv. {found}")
    source = sources[0]
    name = _text(table, source)
    of_worlds = {*PATIENT_KEYS, SAMPLES_OF, *MISSING_KEYS, *METRIC_KEYS} if source == "world" else set()
    taken = {"name", source, *CLASSIFIER_KEYS, *OWN_NUMBERS, RIVAL, METRIC, *of_worlds}
    parameters = {key: value for key, value in table.items() if key not in taken}
    if source == "world":
        population, description = find_world(name, parameters)
        population, patients = _patients(
            population, {key: table[key] for key in PATIENT_KEYS if key in table}
        )
        description |= patients
    elif source == "data":
        population, description = _data(name, parameters, data_folder)
    else:
        population, description = _csv(name, parameters, folder)
    recipe = _recipe(table, CLASSIFIER_KEYS if source != "world" else (*CLASSIFIER_KEYS, *MISSING_KEYS))
    description |= recipe.description
    rival = None
    if RIVAL in table:
        rival = _rival(table[RIVAL])
        description[RIVAL] = rival.description
    own_name = _text(table, "name") if "name" in table else Path(name).stem if source == "csv" else name
    metric = _metric(table, source)
    if metric != ("error",):
        description[METRIC] = list(metric)
    samples_of = _text(table, SAMPLES_OF) if SAMPLES_OF in table else None
    groups = table.get("groups", True)
    numbers = _numbers(table)
    further = _of_metrics(table, metric)
    return Scenario(
        own_name, population, recipe, description, rival, metric, groups, samples_of, **numbers, **further
    )


def _numbers(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers of this scenario that it has in place of those of the study."""
    found: dict[str, Any] = {
        key: check_integer(key, table[key], 1) for key in OWN_NUMBERS[1:] if key in table
    }
    if "n_samples" in table:
        found["n_samples"] = check_sizes(table["n_samples"])
    return found


def check_sizes(given: Any) -> tuple[int, ...]:
    """Return sizes of training sets, of one or a list.

    Raises
    ------
    ValueError
        If one is out of range or stands twice, or there is none.
    """
    sizes = given if isinstance(given, list) else [given]
    for size in sizes:
        check_integer("n_samples", size, 4, MAX_CASES)
    if not sizes or len(set(sizes)) < len(sizes):
        raise ValueError(f"n_samples must be different sizes, at least one. Got {sizes}.")
    return tuple(sizes)


def _of_metrics(table: Mapping[str, Any], metric: tuple[str, ...]) -> dict[str, Any]:
    """Return the prevalence and the costs that a table names, which the metrics must need."""
    found: dict[str, Any] = {key: table[key] for key in METRIC_KEYS if key in table}
    if "costs" in found:
        costs = found["costs"]
        if not isinstance(costs, list) or len(costs) != 2:
            raise ValueError(f"costs must be two numbers, of a non-event and of an event. Got {costs!r}.")
        found["costs"] = tuple(float(check_number("costs", one, 0.0, 1e100)) for one in costs)
    given = dict(enumerate(found["costs"])) if "costs" in found else None
    Metrics(metric, prevalence=found.get("prevalence"), costs=given).resolve()  # says what is missing
    return found


def _metric(table: Mapping[str, Any], source: str) -> tuple[str, ...]:
    asked = table.get(METRIC, "error")
    names = (asked,) if isinstance(asked, str) else tuple(_texts(table, METRIC))
    if names == ("error",):
        return names
    check_known("there is no metric", names, STUDIED, "the metrics of studies are")
    if source != "world" or RIVAL in table or len(set(names)) < len(names):
        raise ValueError(
            f"{METRIC} must name different metrics of one classifier on a world. Got {list(names)}."
        )
    return names


def find_world(name: str, parameters: Mapping[str, Any]) -> tuple[Population, dict[str, Any]]:
    """Return a simulated world, and its name with all parameters.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown, or a value is out of range.
    """
    check_known("there is no world", [name], WORLDS, "the worlds are")
    known = inspect.signature(WORLDS[name]).parameters
    _check_keys(f"world {name}", parameters, known)
    values = {key: parameters.get(key, one.default) for key, one in known.items()}
    return WORLDS[name](**values), {"world": name, **values}


def _patients(world: Any, given: Mapping[str, Any]) -> tuple[Population, dict[str, Any]]:
    """Return a world with several rows for each patient, if a table asks for them, and these keys with defaults."""
    if not given:
        return world, {}
    rows = given.get("rows_per_patient")
    if not isinstance(rows, list) or len(rows) != 2:
        raise ValueError(f"rows_per_patient must be the fewest and the most, such as [2, 6]. Got {rows!r}.")
    if not isinstance(told := given.get("groups", True), bool):
        raise ValueError(
            f"groups must be true or false: whether the methods are told of patients. Got {told!r}."
        )
    chosen = {key: given[key] for key in ("within_patient", "many_rows") if key in given}
    patients = Patients(world, tuple(rows), **chosen)
    description = {"rows_per_patient": rows, "within_patient": patients.within_patient}
    return patients, description | ({} if patients.many_rows is None else {"many_rows": patients.many_rows})


def _data(
    name: str, parameters: Mapping[str, Any], data_folder: str | Path | None
) -> tuple[Population, dict[str, Any]]:
    _check_keys("a table with data", parameters, DATA_KEYS)
    values = {key: _text(parameters, key) for key in parameters}
    data = DataFolder(data_folder).load(name, **values)
    return data, {"data": name, **_of_rows(data, values)}


def _csv(name: str, parameters: Mapping[str, Any], folder: Path) -> tuple[Population, dict[str, Any]]:
    _check_keys("a table with csv", parameters, CSV_KEYS)
    for key in ("target", "positive"):
        if key not in parameters:
            raise ValueError(
                f"{key} is missing; a csv needs the column of the class label and its positive value"
            )
    values: dict[str, Any] = {key: (_texts if key in LISTS else _text)(parameters, key) for key in parameters}
    try:
        data = csv_population(folder / name, **values)
    except CsvError as error:  # words it for the command line
        raise ValueError(re.sub(r"--(\w+)( COL)?", r"the key \1", str(error))) from error
    return data, {"csv": Path(name).name, **_of_rows(data, values)}


def _of_rows(data: RealData, values: Mapping[str, Any]) -> dict[str, Any]:
    """Describe rows by what they hold and not by where they lie, so that a folder may move."""
    return {**values, "device": data.device, "sha256": data.fingerprint}


def _recipe(table: Mapping[str, Any], keys: Iterable[str] = CLASSIFIER_KEYS) -> ClassifierRecipe:
    values = {key: table[key] for key in keys if key in table}
    if "levels" in values:
        columns = values["levels"]
        if not isinstance(columns, list) or "missing" not in values:
            raise ValueError(
                f"levels must be a list of numbers of columns, beside a key missing. Got {columns!r}."
            )
        values["levels"] = tuple(check_integer("levels", one, 0) for one in columns)
    options = values.pop("set", {})
    if not isinstance(options, dict):
        raise ValueError(f"set must be a table such as {{C = 0.5}}. Got {options!r}.")
    tune = values.pop("tune", {})
    if not isinstance(tune, dict) or not all(isinstance(one, list) and one for one in tune.values()):
        raise ValueError(f"tune must be a table of lists such as {{C = [0.1, 1.0, 10.0]}}. Got {tune!r}.")
    tried = tuple((name, tuple(one)) for name, one in tune.items())
    return ClassifierRecipe(options=tuple(options.items()), tune=tried, **values)


def _rival(table: Any) -> ClassifierRecipe:
    if not isinstance(table, dict):
        raise ValueError(f'{RIVAL} must be a table such as {{classifier = "tree"}}. Got {table!r}.')
    table = renamed(table)
    check_known(f"{RIVAL} has no key", table, CLASSIFIER_KEYS)
    return _recipe(table)


def _check_keys(what: str, parameters: Collection[str], known: Collection[str]) -> None:
    check_known(f"{what} has no key", parameters, known, offered=("name", *known, *CLASSIFIER_KEYS))


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table[key]
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key} must be a text that is not empty. Got {value!r}.")
    return value


def _texts(table: Mapping[str, Any], key: str) -> list[str]:
    value = table[key]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f'{key} must be a list of columns, such as ["sex"]. Got {value!r}.')
    return value
