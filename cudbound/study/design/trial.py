"""Try the learners of a study on one sample each, before a thousand replicates fail."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable

import numpy as np

from cudbound.adapters import express
from cudbound.analysis.caller_splits import FOLDS_OF_GROUPS, takes_groups_apart
from cudbound.analysis.plan import MODEL_RECORDS
from cudbound.basis.exceptions import NotMinimizerError, StudyError, UnsupportedEstimatorError
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import MIN_ROWS_PER_CLASS
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.intervals import Method
from cudbound.study.design.scenario import Scenario, Study
from cudbound.study.populations.population import Cases

#: Values of one sample; several copies of it are in memory at once.
MAX_VALUES = 10_000_000
#: Polynomial terms; the 50,000 cases that show the true error have each of them, in 1 GB.
MAX_TERMS = 2_500
#: Samples that are drawn to try a classifier on, until one has enough cases of each class.
MAX_TRIALS = 100


def try_scenario(scenario: Scenario, n_samples: Collection[int], methods: Iterable[Method]) -> None:
    """Fit the classifier of a design file to one sample.

    Parameters
    ----------
    scenario : Scenario
    n_samples : collection of int
        Sizes of training sets. A sample of the largest is drawn, and the classifier fitted to one of the smallest.
    methods : iterable of Method
        If one of them needs the classifier as an additive model, it is written as one.

    Raises
    ------
    ValueError
        If the population cannot give a sample, the fit fails, or the classifier is no such model.
    """
    rng = np.random.default_rng(0)
    n_features = int(getattr(scenario.population, "n_features", 1))
    if isinstance(scenario.make_classifier, ClassifierRecipe):
        _check_columns(scenario.make_classifier, n_features)
    if max(n_samples) * n_features > MAX_VALUES:
        raise ValueError(
            f"samples of {max(n_samples):,} cases with {n_features:,} features have more than {MAX_VALUES:,} values; "
            "take fewer of them"
        )
    if scenario.population.draw(max(n_samples), rng).groups is not None and scenario.groups:
        torn = [method.name for method in methods if takes_groups_apart(method, FOLDS_OF_GROUPS)]
        if torn:
            raise ValueError(
                f"the rows of a patient would be taken apart by {', '.join(torn)}; leave out these methods, or let "
                "none be told of patients: groups = false"
            )
    drawn = _sample(scenario, min(n_samples), rng)
    try:
        with warnings.catch_warnings(action="ignore"):  # those of the study's own fits stand in its results
            _fit_and_express(scenario, drawn, methods)
    except NotMinimizerError:
        return  # of this sample alone; replicates that fail are counted
    except UnsupportedEstimatorError as error:
        raise ValueError(f"{error} {_way_out(methods)}") from error
    except (ValueError, TypeError) as error:
        raise ValueError(f"the classifier cannot be fitted to {min(n_samples)} cases: {error}") from error


def _check_columns(recipe: ClassifierRecipe, n_features: int) -> None:
    """Refuse polynomial terms that fill the memory."""
    if recipe.degree > 1 and (n_columns := recipe.n_columns(n_features)) > MAX_TERMS:
        raise ParameterError(
            "degree", f"lower, for it makes {n_columns:,} columns, more than {MAX_TERMS:,}", recipe.degree
        )


def check_learners(study: Study) -> None:
    """Refuse a study whose methods need a CUD bound that a learner cannot have: every replicate would fail.

    Whatever else goes wrong with a sample may go well with others: replicates that fail are counted.

    Raises
    ------
    StudyError
        The message names the scenario, the reason and the methods that remain.
    """
    methods = study.find_methods()
    if not any(method.needs & MODEL_RECORDS for method in methods):
        return
    for scenario in study.scenarios:
        try:
            with warnings.catch_warnings(action="ignore"):
                drawn = _sample(scenario, min(study.sizes_of(scenario)), np.random.default_rng(0))
                _fit_and_express(scenario, drawn, methods)
        except UnsupportedEstimatorError as error:
            raise StudyError(f"scenario {scenario.name!r}: {error} {_way_out(methods)}") from error
        except Exception:  # of any kind: this sample may go wrong where others go well
            continue


def _sample(scenario: Scenario, n: int, rng: np.random.Generator) -> Cases:
    for _ in range(MAX_TRIALS):
        drawn = scenario.population.draw(n, rng)
        if drawn.n_rarer >= MIN_ROWS_PER_CLASS:
            return drawn
    raise ValueError(
        f"{MAX_TRIALS} samples of {n} cases had fewer than {MIN_ROWS_PER_CLASS} cases of a class each; "
        "take larger samples or classes of more equal size"
    )


def _fit_and_express(scenario: Scenario, drawn: Cases, methods: Iterable[Method]) -> None:
    classifier = scenario.make_classifier().fit(drawn.X, drawn.y)
    if scenario.make_rival is not None:
        scenario.make_rival().fit(drawn.X, drawn.y)
    if any(method.needs & MODEL_RECORDS for method in methods):
        express(classifier, drawn.X, drawn.y)


def _way_out(methods: Iterable[Method]) -> str:
    """Say which methods can be computed without the classifier as an additive model."""
    left = [method.name for method in methods if not method.needs & MODEL_RECORDS]
    if not left:
        return "Name methods other than cud and aci to continue without them."
    return f"Leave cud and aci out of methods to continue without them: {', '.join(left)}."
