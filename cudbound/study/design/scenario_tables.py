"""One table [[scenario]] of a design file: which population, and which classifier."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from cudbound.hints import did_you_mean
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.csv_file import CsvError, DataFile, quoted
from cudbound.parameter_error import ParameterError
from cudbound.study.design.scenario import Scenario
from cudbound.study.populations.own_data import csv_population
from cudbound.study.populations.patients import Patients
from cudbound.study.populations.population import Population
from cudbound.study.populations.real_data import DataFolder, RealData
from cudbound.study.populations.simulated import World
from cudbound.study.populations.worlds import WORLDS
from cudbound.study.schema import keys_of, structured

#: Keys that say what is drawn from; exactly one of them stands in a table.
SOURCES = ("world", "data", "csv")
#: Keys of the classifier; a missing value is settled by the reader of a CSV file, and data sets have none.
CLASSIFIER_KEYS = tuple(key for key in keys_of(ClassifierRecipe) if key not in ("missing", "levels"))
#: Keys of several rows for each patient of a world.
PATIENT_KEYS = ("rows_per_patient", "many_rows", "within_patient")
#: Keys of the scenario itself.
OWN_KEYS = (
    "name",
    "metric",
    "groups",
    "samples_of",
    "n_samples",
    "n_replicates",
    "n_resamples",
    "prevalence",
    "costs",
)


def check_known(
    what: str,
    names: Iterable[str],
    known: Collection[str],
    otherwise: str = "the keys are",
) -> None:
    """Refuse the first name that is not known, with a hint at one that is.

    Raises
    ------
    ValueError
        The message is `what`, the name, and the hint of `did_you_mean`.
    """
    for name in names:
        if name not in known:
            raise ValueError(f"{what} {quoted(name)}; {did_you_mean(name, known, otherwise)}")


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
    left = dict(table)
    sources = [key for key in SOURCES if key in left]
    if len(sources) != 1 or not isinstance(name := left.pop(sources[0]), str):
        raise ValueError(f"the population must be named by one of world, data and csv. Got {sources}.")
    source = sources[0]
    recipe_keys = keys_of(ClassifierRecipe) if source == "world" else CLASSIFIER_KEYS
    recipe = structured(_taken(left, recipe_keys), ClassifierRecipe)
    own = _taken(left, OWN_KEYS)
    rival = _rival(left.pop("rival")) if "rival" in left else None
    population, description = _population(source, name, left, own, folder, data_folder)
    description |= recipe.description
    if rival is not None:
        description["rival"] = rival.description
    metric = own.get("metric", "error")
    if metric != "error":
        description["metric"] = [metric] if isinstance(metric, str) else metric
    own.setdefault("name", Path(name).stem if source == "csv" else name)
    parts = {"make_classifier": recipe, "make_rival": rival, "description": description}
    return structured({"population": population, **parts, **own}, Scenario)


def _taken(left: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: left.pop(key) for key in keys if key in left}


def _population(
    source: str,
    name: str,
    left: dict[str, Any],
    own: Mapping[str, Any],
    folder: Path,
    data_folder: str | Path | None,
) -> tuple[Population, dict[str, Any]]:
    """Return what is drawn from, and what identifies it."""
    if source == "world":
        patients = _taken(left, PATIENT_KEYS)
        world, description = find_world(name, left)
        if patients or "groups" in own:
            return _patients(world, patients, description)
        return world, description
    if source == "data":
        check_known("a table with data has no key", left, ("target", "device"))
        return _of_rows(DataFolder(data_folder).load(name, **left), {"data": name, **left})
    given = {"csv": Path(name).name, **left}
    device = left.pop("device", "remainder")
    file = structured({"file": folder / name, **left}, DataFile)
    try:
        return _of_rows(csv_population(file, device=device), given)
    except CsvError as error:
        raise ValueError(f'{error} (options are keys here: --exclude COL is exclude = ["COL"])') from error


def find_world(name: str, parameters: Mapping[str, Any]) -> tuple[World, dict[str, Any]]:
    """Return a simulated world, and its name with all parameters.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown, or a value is out of range.
    """
    check_known("there is no world", [name], WORLDS, "the worlds are")
    known = inspect.signature(WORLDS[name]).parameters
    for key in parameters.keys() - known:
        hint = did_you_mean(key, ("name", *known, *CLASSIFIER_KEYS), "the keys are")
        raise ValueError(f"world {name} has no key {quoted(key)}; {hint}")
    values = {key: parameters.get(key, one.default) for key, one in known.items()}
    return WORLDS[name](**values), {"world": name, **values}


def _patients(
    world: Any, given: dict[str, Any], description: dict[str, Any]
) -> tuple[Population, dict[str, Any]]:
    """Return a world with several rows for each patient, and the description with these keys and their defaults."""
    rows = given.pop("rows_per_patient", None)
    patients = Patients(world, tuple(rows) if isinstance(rows, list) else rows, **given)
    description |= {"rows_per_patient": rows, "within_patient": patients.within_patient}
    return patients, description | ({} if patients.many_rows is None else {"many_rows": patients.many_rows})


def _of_rows(data: RealData, given: dict[str, Any]) -> tuple[Population, dict[str, Any]]:
    """Describe rows by what they hold and not by where they lie, so that a folder may move."""
    return data, {**given, "device": data.device, "sha256": data.fingerprint}


def _rival(table: Any) -> ClassifierRecipe:
    if not isinstance(table, dict):
        raise ParameterError("rival", 'a table such as {classifier = "tree"}', table)
    return structured(table, ClassifierRecipe)
