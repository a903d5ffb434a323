"""The identity of a study: everything that its numbers depend on, in words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from sklearn.base import BaseEstimator

from cudbound.study.design.scenario import Scenario, Study

#: Differences shown in an error message; more would hide the first.
MAX_SHOWN = 6
#: Entries of a description that do not affect any result.
WORDS_ONLY = frozenset({"title", "n_features"})


def describe(study: Study) -> dict[str, Any]:
    """Describe a study completely, with JSON values.

    Parameters
    ----------
    study : Study

    Returns
    -------
    dict
        Every setting, the version of this package, and for every scenario its population and classifier as printed, and
        its own description.

    Notes
    -----
    A population is identified by its printed form: a dataclass shows its parameters, a plain object only its class.
    Anything else that affects its numbers, such as the checksum of a data file, belongs in the scenario's description.

    Examples
    --------
    >>> from cudbound import LeastSquaresClassifier
    >>> from cudbound.study.design.scenario import Scenario, Study
    >>> class Coin:
    ...     name, title = "coin", "labels without features"
    >>> study = Study("quick", (Scenario("coin", Coin(), LeastSquaresClassifier),), (30,), 10, ("cud",))
    >>> description = describe(study)
    >>> description["n_samples"], description["scenarios"]["coin"]["classifier"]
    ([30], 'LeastSquaresClassifier()')
    """
    description = {
        "cudbound": version("cudbound"),
        **{name: value for name, value in vars(study).items() if name != "user_methods"},
        "scenarios": {scenario.name: _describe_scenario(scenario) for scenario in study.scenarios},
        "sizes": asdict(study.sizes),
    }
    plain: dict[str, Any] = json.loads(json.dumps(description, default=_plain))
    return plain


def cells_of(description: Mapping[str, Any]) -> dict[tuple[str, int], int]:
    """Return the number of replicates in each cell of a described study, by scenario and n.

    Examples
    --------
    >>> study = {"n_samples": [30], "n_replicates": 9, "scenarios": {"a": {}, "b": {"n_samples": [50, 80]}}}
    >>> cells_of(study)
    {('a', 30): 9, ('b', 50): 9, ('b', 80): 9}
    """
    return {
        (name, n): entries.get("n_replicates", description["n_replicates"])
        for name, entries in description["scenarios"].items()
        for n in entries.get("n_samples", description["n_samples"])
    }


def differences(stored: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the settings in which a study differs from the stored one.

    More replicates, sizes and scenarios are not differences, since they do not change the stored results; nor are the
    order of methods, sizes and scenarios.

    Parameters
    ----------
    stored, now : mapping
        Results of `describe`.

    Returns
    -------
    list of str
        Such as ``"n_resamples: stored 500, now 200"``; empty if the stored results belong to the study `now`.

    Examples
    --------
    >>> differences({"seed": 0, "n_replicates": 10}, {"seed": 1, "n_replicates": 20})
    ['seed: stored 0, now 1']
    """
    changes = _changes(stored, now)
    for scenario, entries in stored.get("scenarios", {}).items():
        if scenario in now.get("scenarios", {}):
            entries_now = now["scenarios"][scenario]
            changes += [
                f"scenario {scenario}, {change}" for change in _changes(_flat(entries), _flat(entries_now))
            ]
        else:
            changes.append(f"scenario {scenario}: stored, now missing")
    return changes


def shown(changes: list[str]) -> str:
    """Join the first few differences for a message."""
    more = len(changes) - MAX_SHOWN
    return "; ".join(changes[:MAX_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _leaves_results(name: str, before: Any, after: Any) -> bool:
    """Whether changing a setting leaves the stored results unchanged."""
    if name == "n_replicates" and before is not None and after is not None:
        return bool(after >= before)
    if name == "n_samples":
        return set(after or ()) >= set(before or ())
    if name == "methods":
        return sorted(before or ()) == sorted(after or ())
    return bool(before == after)


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the settings that change results."""
    old, new = ({name: json.dumps(value) for name, value in settings.items()} for settings in (before, after))
    return [
        f"{name}: stored {old.get(name, 'nothing')}, now {new.get(name, 'nothing')}"
        for name in sorted((old.keys() | new.keys()) - {"scenarios"} - WORDS_ONLY)
        if not _leaves_results(name, before.get(name), after.get(name))
    ]


def _flat(entries: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Flatten nested mappings, with dots between the levels of names."""
    flat: dict[str, Any] = {}
    for key, value in entries.items():
        flat |= _flat(value, f"{above}{key}.") if isinstance(value, Mapping) else {f"{above}{key}": value}
    return flat


def _describe_scenario(scenario: Scenario) -> dict[str, Any]:
    of_scenario = ("samples_of", "n_samples", "n_replicates", "n_resamples", "prevalence", "costs")
    return {
        "title": scenario.population.title,
        "population": scenario.population.name,
        "parameters": _printed(scenario.population),
        "n_features": getattr(scenario.population, "n_features", None),
        **dict(zip(("classifier", "rival"), map(_printed, scenario.learners()), strict=False)),
        **{name: value for name in of_scenario if (value := getattr(scenario, name)) is not None},
        "groups": scenario.groups,
        "description": dict(scenario.description),
    }


def _printed(value: object) -> str:
    """Return the printed form of an object without its memory address, which varies between runs."""
    # scikit-learn cuts what is longer than 700 characters, and two pipelines could look the same
    text = value.__repr__(N_CHAR_MAX=math.inf) if isinstance(value, BaseEstimator) else repr(value)
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", text)


def _plain(value: Any) -> Any:
    """Convert values for JSON: numbers and arrays of NumPy, mappings, and anything else as printed."""
    if isinstance(value, Mapping):
        return dict(value)
    return value.tolist() if hasattr(value, "tolist") else _printed(value)
