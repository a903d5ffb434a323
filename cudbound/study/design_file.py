"""Design files: a study as a TOML file, checked before anything runs."""

from __future__ import annotations

import inspect
import tomllib
import warnings
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from cudbound.adapters import to_additive_model
from cudbound.analysis.question import takes_groups_apart
from cudbound.basis import exceptions
from cudbound.basis.validation import check_choice, check_integer
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.csv_columns import read_training_data
from cudbound.inputs.data_file import CsvError, DataFile, quoted
from cudbound.inputs.schema import keys_of, placed, structured
from cudbound.study import population as populations
from cudbound.study.scenario import Scenario, Study
from cudbound.study.worlds import WORLDS, Patients

#: A population, and what a store keeps of it.
_Described = tuple[populations.Population, dict[str, Any]]
#: Keys for the source of samples; a table must have exactly one of them.
SOURCES = ("world", "data", "csv")
#: Keys of the classifier, without those for missing values, which data sets lack and the CSV reader handles.
RECIPE_KEYS = tuple(keys_of(ClassifierRecipe).values())
MISSING_KEYS = ("missing", "levels")
#: Keys for several rows per patient in a world.
PATIENT_KEYS = ("rows_per_patient", "many_rows", "within_patient")
#: Keys of a scenario, or of the study for all scenarios that have no other value.
METRIC_KEYS = ("metric", "prevalence", "costs")
#: Keys of the scenario itself.
SCENARIO_KEYS = keys_of(Scenario).keys() - {"population", "classifier", "rival", "description"}
#: Keys that are read whatever the source of samples.
COMMON_KEYS = tuple(sorted({*SCENARIO_KEYS, *RECIPE_KEYS, "rival"} - {*MISSING_KEYS}))


def template_names() -> tuple[str, ...]:
    """Return the names of the design files in the package."""
    folder = files("cudbound.study") / "designs"
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir()))


def template_text(name: str) -> str:
    """Return a design file from the package, with its comments.

    Raises
    ------
    ValueError
        If no design file has that name.

    Examples
    --------
    >>> print(template_text("quick").splitlines()[0])
    # Two simulated worlds and 20 replicates: a study that takes seconds, to see what one is.
    """
    check_choice("template", name, template_names())
    return (files("cudbound.study") / "designs" / f"{name}.toml").read_text(encoding="utf-8")


def read_design(
    path: str | Path, *, data_folder: str | Path | None = None, n_replicates: int | None = None
) -> Study:
    """Read a study from a design file.

    Parameters
    ----------
    path : str or Path
        The file. A ``csv`` in it is relative to its folder.
    data_folder : str, Path or None, default=None
        Folder of the real data sets; None uses the environment variable ``CUDBOUND_DATA``. Needed only if a scenario
        uses one of them.
    n_replicates : int or None, default=None
        Number of replicates, at least 1, instead of those in the file.

    Returns
    -------
    Study

    Raises
    ------
    ValueError
        If the file cannot be used: the message, in one line, names the file, the table and the key, the rule and the
        value. The check includes fitting every classifier to one sample of the smallest size from its population.

    Notes
    -----
    The same file, data and arguments give the same study, and the same results of `cudbound.study.run_study`.

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
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            raise ValueError("there is no such file; 'cudbound study new' writes one") from None
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ValueError(f"not a TOML file: {reason}; 'cudbound study new' writes one") from error
        tables = table.get("scenario")
        if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
            rule = 'one or more tables [[scenario]], such as one with world = "gaussians"'
            raise exceptions.ParameterError("scenario", rule, tables)
        if n_replicates is not None:
            check_integer("n_replicates", n_replicates, 1)
            for settings in (table, *(scenario for scenario in tables if "n_replicates" in scenario)):
                settings["n_replicates"] = n_replicates
        shared = _taken(table, METRIC_KEYS)
        tables = [shared | scenario for scenario in tables]
        scenarios: list[Scenario] = []
        for number, entries in enumerate(tables, start=1):
            with placed(f"[[scenario]] {number}"):
                scenarios.append(read_scenario(entries, folder=path.parent, data_folder=data_folder))
        methods = "paper" if all(scenario.rival is None for scenario in scenarios) else "all"
        settings = {"name": path.stem, "methods": methods, **table}
        study = structured(settings | {"scenario": scenarios}, Study)
        for number, scenario in enumerate(study.scenarios, start=1):
            with placed(f"[[scenario]] {number}"):
                try_scenario(study, scenario)
    return study


def read_scenario(table: Mapping[str, Any], *, folder: Path, data_folder: str | Path | None) -> Scenario:
    """Return the scenario that a table describes.

    Parameters
    ----------
    table : mapping
        The keys and values of the table.
    folder : Path
        Folder of a relative ``csv``.
    data_folder : str, Path or None
        Folder of the real data sets; None uses the environment variable ``CUDBOUND_DATA``.

    Raises
    ------
    ValueError
        If a key is unknown or missing, a value is out of range, or the data cannot be used.
    """
    left = dict(table)
    sources = [key for key in SOURCES if key in left]
    if len(sources) != 1 or not isinstance(name := left.pop(sources[0]), str):
        raise ValueError(
            f"the population must be given by exactly one of world, data and csv. Got {sources}."
        )
    settings = {"name": Path(name).stem if sources == ["csv"] else name, **_taken(left, SCENARIO_KEYS)}
    recipe_keys = [key for key in RECIPE_KEYS if sources == ["world"] or key not in MISSING_KEYS]
    recipe = structured(_taken(left, recipe_keys), ClassifierRecipe)
    rival = None
    if "rival" in left:
        with placed("rival"):
            rival = structured(left.pop("rival"), ClassifierRecipe)
    if sources == ["world"]:
        population, description = _world(name, left, has_groups="groups" in settings)
    elif sources == ["data"]:
        population, description = _data(name, left, data_folder)
    else:
        population, description = _csv(folder / name, left)
    description |= recipe.description
    if rival is not None:
        description["rival"] = rival.description
    parts = {"population": population, "classifier": recipe, "rival": rival}
    return structured({**parts, "description": description, **settings}, Scenario)


def _taken(left: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: left.pop(key) for key in keys if key in left}


def find_world(
    name: str, parameters: Mapping[str, Any], others: Iterable[str] = ()
) -> tuple[populations.World, dict[str, Any]]:
    """Return a simulated world, and a mapping of its name and all parameters; a hint may name `others`.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown, or a value is out of range.
    """
    check_choice("world", name, WORLDS)
    signature = inspect.signature(WORLDS[name]).parameters
    _check_keys(f"world {name}", parameters, signature, others)
    values = {key: parameters.get(key, parameter.default) for key, parameter in signature.items()}
    return WORLDS[name](**values), {"world": name, **values}


def _check_keys(source: str, given: Iterable[str], own: Iterable[str], others: Iterable[str]) -> None:
    """Raise unless all keys are those of a source of samples; a hint may name `others`, which are read before."""
    for wrong in sorted(set(given).difference(own)):
        hint = exceptions.did_you_mean(wrong, (*own, *others), "the keys are")
        raise ValueError(f"there is no key {quoted(wrong)} for {source}; {hint}")


def _world(name: str, left: dict[str, Any], *, has_groups: bool) -> _Described:
    """Return a world, with several rows per patient if one of their keys, or groups, is given."""
    of_patients = _taken(left, PATIENT_KEYS)
    world: Any
    world, description = find_world(name, left, (*COMMON_KEYS, *MISSING_KEYS, *PATIENT_KEYS))
    if not of_patients and not has_groups:
        return world, description
    rows = of_patients.pop("rows_per_patient", None)
    patients = Patients(world, tuple(rows) if isinstance(rows, list) else rows, **of_patients)
    description |= {"rows_per_patient": rows, "within_patient": patients.within_patient}
    return patients, description | ({} if patients.many_rows is None else {"many_rows": patients.many_rows})


def _data(name: str, left: dict[str, Any], data_folder: str | Path | None) -> _Described:
    _check_keys(f"data {name}", left, ("device",), COMMON_KEYS)
    return _of_rows(populations.load_data_set(name, data_folder, **left), {"data": name, **left})


def _csv(path: Path, left: dict[str, Any]) -> _Described:
    description = {"csv": path.name, **left}
    device = left.pop("device", "remainder")
    file = structured({"file": path, **left}, DataFile)
    check_choice("missing", file.missing, ("error", "drop"))  # a population has no imputation
    try:
        read = read_training_data(file)
    except CsvError as error:
        raise ValueError(f'{error} (options are keys here: --exclude COL is exclude = ["COL"])') from error
    words = f"{path.name}, {file.target} = {file.positive}"
    rows = populations.RealData(path.stem, words, read.X, read.y, device, read.feature_names)
    return _of_rows(rows, description)


def _of_rows(data: populations.RealData, description: dict[str, Any]) -> _Described:
    """Describe rows by their content, not their location, so that a folder may move."""
    return data, {**description, "device": data.device, "sha256": data.fingerprint}


#: Values of one sample; several copies of it are in memory at once.
MAX_VALUES = 10_000_000
#: Polynomial terms; the 50,000 cases for the true error have all of them, in 1 GB.
MAX_TERMS = 2_500


def try_scenario(study: Study, scenario: Scenario) -> None:
    """Fit the classifier of a scenario to one sample, and write it as an additive model if a method needs one.

    A sample of the largest size is drawn, and the classifier is fitted to one of the smallest.

    Raises
    ------
    UnsupportedEstimatorError
        If it is not such a model; the remedy names the methods that can be computed without it.
    ValueError
        If the population cannot give a sample, or the fit fails.
    """
    n_features = int(getattr(scenario.population, "n_features", 1))
    smallest, largest = min(study.sizes_of(scenario)), max(study.sizes_of(scenario))
    recipe, methods = scenario.classifier, study.find_methods()
    if isinstance(recipe, ClassifierRecipe) and recipe.degree > 1:
        n_columns = recipe.n_columns(n_features)
        if n_columns > MAX_TERMS:
            rule = f"lower, because it makes {n_columns:,} columns, more than {MAX_TERMS:,}"
            raise exceptions.ParameterError("degree", rule, recipe.degree)
    if largest * n_features > MAX_VALUES:
        raise ValueError(
            f"samples of {largest:,} cases with {n_features:,} features have more than {MAX_VALUES:,} values; use "
            "fewer cases or features"
        )
    left = [method.name for method in methods if not any(kind.of_model for kind in method.needs)]
    rng = np.random.default_rng(0)
    with warnings.catch_warnings(action="ignore"):  # those of the study's own fits stand in its results
        of_patients = scenario.population.draw(largest, rng).groups is not None
        torn = [method.name for method in methods if takes_groups_apart(method)]
        if torn and scenario.groups and of_patients:
            raise ValueError(
                f"{', '.join(torn)} would split the rows of a patient; leave these methods out, or ignore patients "
                "with groups = false"
            )
        drawn, _ = populations.draw_both_classes(scenario.population, smallest, rng)
        try:
            classifier, *_ = [learner.fit(drawn.X, drawn.y) for learner in scenario.learners()]
            if len(left) < len(methods.methods):
                to_additive_model(classifier, drawn.X, drawn.y)
        except exceptions.UnsupportedEstimatorError as error:
            remedy = "Name methods other than cud and aci to continue without them."
            if left:
                remedy = f"Leave cud and aci out of methods to continue without them: {', '.join(left)}."
            raise exceptions.UnsupportedEstimatorError(str(error), remedy) from error
        except exceptions.NotMinimizerError:
            return  # of this sample alone; replicates that fail are counted
        except (ValueError, TypeError) as error:
            raise ValueError(f"the classifier cannot be fitted to {smallest} cases: {error}") from error


def check_learners(study: Study) -> None:
    """Raise if methods need a CUD bound that a learner cannot have: every replicate would fail.

    Other failures may be specific to one sample: failed replicates are counted.

    Raises
    ------
    StudyError
        The message names the scenario, the reason and the remaining methods.
    """
    for scenario in study.scenarios:
        try:
            try_scenario(study, scenario)
        except exceptions.UnsupportedEstimatorError as error:
            raise exceptions.StudyError(f"scenario {scenario.name!r}: {error}") from error
        except Exception:  # of any kind: this sample may go wrong where others go well
            continue
