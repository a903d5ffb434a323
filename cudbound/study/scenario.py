"""The design of a study: scenarios, sizes, methods, and numbers of replicates."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from cudbound.basis import validation
from cudbound.basis.exceptions import ParameterError, suggestion
from cudbound.basis.method_card import RequestedMethods, check_options
from cudbound.inputs.schema import placed
from cudbound.intervals import METHODS, Method, find_comparisons, find_methods
from cudbound.metrics.metric import ERROR
from cudbound.metrics.metrics import NAMES, Metrics
from cudbound.problem.draws import MAX_RESAMPLES
from cudbound.resampling import Resampling
from cudbound.resampling.make_records import INNER_DRAWS
from cudbound.study.population import Population

#: Metrics whose true value is found on a large sample.
STUDIED = tuple(name for name in NAMES if name != ERROR.name)
#: Upper limits for a study: beyond them, a sample, a draw or a list of replicates fills the memory.
MAX_CASES = 100_000
MAX_REPLICATES = 10_000_000


@dataclass(frozen=True)
class Scenario:
    """A population and the learning algorithm applied to its samples.

    Attributes
    ----------
    name : str
        Used in the results and for the random numbers: a scenario's rows do not depend on the other scenarios.
    population : Population
    classifier : estimator or callable
        A complete scikit-learn classifier (with scaling, principal components, polynomial terms), whose clones are
        fitted; or a function without arguments that returns one, such as the class.
    description : mapping of str to object
        The same in words and numbers, as in a design file; part of the identity of the study.
    rival : estimator or callable or None, default=None
        A second classifier. The study is then about the error of the first minus that of the rival, with methods that
        compare.
    metric : tuple of str, default=("error",)
        Metrics to study instead of the error: names from `cudbound.Metrics`, on a simulated world or on data that are
        the population. For several metrics, the coverage is that of all simultaneous intervals of a method together.
    groups : bool, default=True
        Whether methods know which rows belong to the same patient, if patients have several rows.
    samples_of : str or None, default=None
        Name of a scenario with the same population, whose samples and random numbers this scenario shares, for
        comparisons replicate by replicate.
    n_samples, n_replicates, n_resamples : tuple of int, int and int, or None, default=None
        Values for this scenario, instead of those of the study.
    prevalence : float or "sample" or None, default=None
        For the metrics "ppv" and "npv", as in `cudbound.Metrics`; their true values are at that prevalence, or at that
        of the world.
    costs : tuple of two float, or None, default=None
        For the metric "cost": the costs of misclassifying a case of class 0 and a case of class 1.
    """

    name: str
    population: Population
    classifier: Any = field(repr=False)
    description: Mapping[str, Any] = field(default_factory=dict)
    rival: Any = field(default=None, repr=False)
    metric: tuple[str, ...] = ("error",)
    groups: bool = True
    samples_of: str | None = None
    n_samples: tuple[int, ...] | None = None
    n_replicates: int | None = None
    n_resamples: int | None = None
    prevalence: float | str | None = None
    costs: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ParameterError("name", "nonempty text", self.name)
        if isinstance(self.population, str):
            rule = "an object with name, title and draw, such as cudbound.study.worlds.WORLDS['noise']()"
            raise ParameterError("population", rule, self.population)
        for name, learner in (("classifier", self.classifier), ("rival", self.rival)):
            if not (hasattr(learner, "fit") or callable(learner) or (name == "rival" and learner is None)):
                raise ParameterError(name, "an estimator, such as LogisticRegression()", learner)
        _check_numbers(self)
        if self.metric != ("error",):
            for name in self.metric:
                validation.check_choice("metric", name, STUDIED)
            in_all = getattr(self.population, "all_cases", None) is not None
            if self.rival is not None or not (in_all or hasattr(self.population, "sample")):
                rule = 'for one classifier on a simulated world, or on data with device = "population"'
                raise ParameterError("metric", rule, self.metric)
        self.metrics.resolve()  # says what is missing

    def learners(self) -> list[Any]:
        """Return new unfitted estimators: the classifier, and its rival, if any."""
        learners = [learner for learner in (self.classifier, self.rival) if learner is not None]
        return [
            clone(learner) if hasattr(learner, "fit") and not isinstance(learner, type) else learner()
            for learner in learners
        ]

    @property
    def metrics(self) -> Metrics:
        """The metrics of the study, in the form for an analysis: a single one, or several together."""
        names = self.metric[0] if len(self.metric) == 1 else self.metric
        costs = None if self.costs is None else dict(enumerate(self.costs))
        cut = self.description.get("threshold") if "net-benefit" in self.metric else None
        return Metrics(
            names, joint=len(self.metric) > 1, prevalence=self.prevalence, costs=costs, threshold=cut
        )


@dataclass(frozen=True)
class Study:
    """A coverage study: every scenario, at every size, `n_replicates` times, by all methods on the same samples.

    A scenario may have its own sizes and numbers of replicates and draws.

    Either all scenarios have a rival or none: a study is about the error of one classifier or about differences.

    Attributes
    ----------
    name : str
    scenarios : tuple of Scenario
    n_samples : tuple of int
        Sizes of training sets.
    n_replicates : int
    methods : str or tuple of str
        Names of intervals, or of methods that compare if the scenarios have rivals. Groups, single names, pairs (name,
        options), your own functions and methods made by `cudbound.own_method` are replaced by their names.
    n_resamples : int, default=500
        Bootstrap draws, as in Laber and Murphy (2008).
    confidence_level : float, default=0.95
    localization : str or float, default="n"
    options : mapping of str to mapping, default={}
        Options of single methods, including those from pairs.
    resampling : Resampling, default=Resampling()
        Without `cv`; `inner` is 50 by default, and scenarios with metrics other than the error use inner="oob".
    seed : int, default=0
    user_methods : tuple of Method
        The user-defined methods, taken from `methods`. A store identifies a method only by its name: rename a method
        that you have changed.

    Raises
    ------
    ValueError
        If a number is out of range, a method is unknown, names of scenarios repeat, or only some scenarios have rivals.
    """

    name: str
    scenarios: tuple[Scenario, ...] = field(metadata={"key": "scenario"})
    n_samples: tuple[int, ...]
    n_replicates: int
    methods: Any
    n_resamples: int = 500
    confidence_level: float = 0.95
    localization: str | float = "n"
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    resampling: Resampling = field(default_factory=Resampling)
    seed: int = 0
    user_methods: tuple[Method, ...] = field(default=(), repr=False, metadata={"key": None})

    def __post_init__(self) -> None:
        if len({scenario.rival is None for scenario in self.scenarios}) > 1:
            alone = next(scenario.name for scenario in self.scenarios if scenario.rival is None)
            raise ValueError(
                f"All scenarios of a study must have a rival, or none. Got {alone!r} without one, and others with one; "
                "split them into two studies."
            )
        requested = self.find_methods()
        # what a store keeps must not change with a group
        object.__setattr__(self, "methods", tuple(method.name for method in requested))
        of_user = tuple(method for method in requested if method.name not in METHODS)
        object.__setattr__(self, "user_methods", of_user)
        check_options(self.options, requested)
        object.__setattr__(self, "options", {**requested.options, **self.options})
        validation.check_confidence_level(self.confidence_level)
        if self.resampling.inner is None:
            object.__setattr__(self, "resampling", replace(self.resampling, inner=INNER_DRAWS))
        validation.check_integer("seed", self.seed, 0)
        _check_numbers(self)
        validation.check_localization(self.localization, max(self.n_samples))
        names = [scenario.name for scenario in self.scenarios]
        if not names or len(set(names)) < len(names):
            raise ParameterError("scenarios", "one or more, with different names", names)
        for number, scenario in enumerate(self.scenarios):
            self._check_samples(scenario, self.scenarios[:number])
            if not self.compares:  # every replicate would fail
                with placed(f"scenario {scenario.name!r}"):
                    self.find_methods().that_read(scenario.metrics.kinds)

    def _check_samples(self, scenario: Scenario, above: tuple[Scenario, ...]) -> None:
        """Raise unless `samples_of` is an earlier scenario with the same population and its own samples."""
        offered = [
            other.name
            for other in above
            if other.samples_of is None and other.population == scenario.population
        ]
        if scenario.samples_of is not None and scenario.samples_of not in offered:
            rule = "the name of an earlier scenario with the same population and its own samples"
            raise ParameterError(
                "samples_of", rule, scenario.samples_of, suggestion(scenario.samples_of, offered)
            )

    def sizes_of(self, scenario: Scenario) -> tuple[int, ...]:
        """Return the sizes of training sets of a scenario: its own, or those of the study."""
        return self.n_samples if scenario.n_samples is None else scenario.n_samples

    @property
    def cells(self) -> dict[tuple[str, int], int]:
        """The number of replicates of each cell, by scenario and n."""
        return cells_of(describe(self))

    @property
    def compares(self) -> bool:
        """Whether the study is about differences between two errors."""
        return any(scenario.rival is not None for scenario in self.scenarios)

    def find_methods(self) -> RequestedMethods[Method]:
        """Return the methods as objects."""
        return (find_comparisons if self.compares else find_methods)(self.methods, self.user_methods)

    def rng(self, scenario: str, n: int, replicate: int, n_train: int | None = None) -> np.random.Generator:
        """Return the random numbers of one replicate, shared by all methods.

        With `n_train`, those for the replicate's further sample of that size, for the expected error.

        They depend only on the study's seed, the name of the scenario (or of the one whose samples it shares), n and
        the replicate number: not on other scenarios, sizes and methods, nor on the order or place of running.
        """
        return np.random.default_rng(self._seeds(scenario, n, replicate, n_train))

    def seed_of_fits(self, scenario: str, n: int, replicate: int, n_train: int | None = None) -> int:
        """Return the seed for fits to a sample, for classifiers without one; it does not advance `rng`."""
        return int(self._seeds(scenario, n, replicate, n_train).generate_state(1)[0] % 2**31)

    def _seeds(self, scenario: str, n: int, replicate: int, n_train: int | None) -> np.random.SeedSequence:
        source = (
            next((other.samples_of for other in self.scenarios if other.name == scenario), None) or scenario
        )
        digest = hashlib.blake2b(source.encode(), digest_size=8).digest()
        further = [] if n_train is None else [n_train]
        return np.random.SeedSequence([self.seed, int.from_bytes(digest, "big"), n, replicate, *further])


def _check_numbers(settings: Study | Scenario) -> None:
    for name, largest in (("n_replicates", MAX_REPLICATES), ("n_resamples", MAX_RESAMPLES)):
        if getattr(settings, name) is not None:
            validation.check_integer(name, getattr(settings, name), 1, largest)
    sizes = settings.n_samples
    for n in sizes or ():
        validation.check_integer("n_samples", n, 4, MAX_CASES)
    if sizes is not None and (not sizes or len(set(sizes)) < len(sizes)):
        raise ParameterError("n_samples", "different sizes, at least one", list(sizes))


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
    >>> from cudbound.study.scenario import Scenario, Study
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
        "resampling": {name: value for name, value in asdict(study.resampling).items() if value is not None},
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
    metric = {} if scenario.metric == ("error",) else {"metric": list(scenario.metric)}
    return {
        "title": scenario.population.title,
        "population": scenario.population.name,
        "parameters": _printed(scenario.population),
        "n_features": getattr(scenario.population, "n_features", None),
        **dict(zip(("classifier", "rival"), map(_printed, scenario.learners()), strict=False)),
        **{name: value for name in of_scenario if (value := getattr(scenario, name)) is not None},
        "groups": scenario.groups,
        "description": {**scenario.description, **metric},
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
