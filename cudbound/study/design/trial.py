"""A trial fit of each learner of a study on one sample, before a thousand replicates fail."""

from __future__ import annotations

import warnings
from collections.abc import Collection

import numpy as np

from cudbound.adapters import to_additive_model
from cudbound.analysis.plan import filled_by_folds, takes_groups_apart
from cudbound.basis.exceptions import NotMinimizerError, ParameterError, StudyError, UnsupportedEstimatorError
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.intervals import Method
from cudbound.study.design.scenario import Scenario, Study
from cudbound.study.populations.population import draw_both_classes

#: Values of one sample; several copies of it are in memory at once.
MAX_VALUES = 10_000_000
#: Polynomial terms; the 50,000 cases for the true error have all of them, in 1 GB.
MAX_TERMS = 2_500


def try_scenario(scenario: Scenario, n_samples: Collection[int], methods: Collection[Method]) -> None:
    """Fit the classifier of a scenario to one sample.

    Parameters
    ----------
    scenario : Scenario
    n_samples : collection of int
        Sizes of training sets. A sample of the largest size is drawn, and the classifier is fitted to one of the
        smallest.
    methods : collection of Method
        If one of them needs an additive model, the classifier is written as one.

    Raises
    ------
    ValueError
        If the population cannot give a sample, the fit fails, or the classifier is not an additive model.
    """
    n_features, largest = int(getattr(scenario.population, "n_features", 1)), max(n_samples)
    recipe = scenario.classifier
    if isinstance(recipe, ClassifierRecipe) and recipe.degree > 1:
        n_columns = recipe.n_columns(n_features)
        if n_columns > MAX_TERMS:
            rule = f"lower, because it makes {n_columns:,} columns, more than {MAX_TERMS:,}"
            raise ParameterError("degree", rule, recipe.degree)
    if largest * n_features > MAX_VALUES:
        raise ValueError(
            f"samples of {largest:,} cases with {n_features:,} features have more than {MAX_VALUES:,} values; use "
            "fewer cases or features"
        )
    rng = np.random.default_rng(0)
    of_patients = scenario.population.draw(largest, rng).groups is not None
    torn = [method.name for method in methods if takes_groups_apart(method, filled_by_folds)]
    if torn and scenario.groups and of_patients:
        raise ValueError(
            f"{', '.join(torn)} would split the rows of a patient; leave these methods out, or ignore patients with "
            "groups = false"
        )
    try:
        _fit_and_express(scenario, min(n_samples), rng, methods)
    except NotMinimizerError:
        return  # of this sample alone; replicates that fail are counted
    except UnsupportedEstimatorError as error:
        raise ValueError(str(error)) from error


def check_learners(study: Study) -> None:
    """Raise if methods need a CUD bound that a learner cannot have: every replicate would fail.

    Other failures may be specific to one sample: failed replicates are counted.

    Raises
    ------
    StudyError
        The message names the scenario, the reason and the remaining methods.
    """
    methods = study.find_methods()
    if not any(kind.of_model for method in methods for kind in method.needs):
        return
    for scenario in study.scenarios:
        try:
            _fit_and_express(scenario, min(study.sizes_of(scenario)), np.random.default_rng(0), methods)
        except UnsupportedEstimatorError as error:
            raise StudyError(f"scenario {scenario.name!r}: {error}") from error
        except Exception:  # of any kind: this sample may go wrong where others go well
            continue


def _fit_and_express(
    scenario: Scenario, n: int, rng: np.random.Generator, methods: Collection[Method]
) -> None:
    """Fit to a sample, and write the classifier as an additive model if a method needs one.

    Raises
    ------
    UnsupportedEstimatorError
        If it is not one; the remedy names the methods that can be computed without it.
    ValueError
        If there is no sample, or the fit fails.
    """
    left = [method.name for method in methods if not any(kind.of_model for kind in method.needs)]
    with warnings.catch_warnings(action="ignore"):  # those of the study's own fits stand in its results
        drawn, _ = draw_both_classes(scenario.population, n, rng)
        try:
            classifier, *_ = [learner.fit(drawn.X, drawn.y) for learner in scenario.learners()]
            if len(left) < len(methods):
                to_additive_model(classifier, drawn.X, drawn.y)
        except UnsupportedEstimatorError as error:
            remedy = "Name methods other than cud and aci to continue without them."
            if left:
                remedy = f"Leave cud and aci out of methods to continue without them: {', '.join(left)}."
            raise UnsupportedEstimatorError(str(error), remedy) from error
        except NotMinimizerError:
            raise
        except (ValueError, TypeError) as error:
            raise ValueError(f"the classifier cannot be fitted to {n} cases: {error}") from error
