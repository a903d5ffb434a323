"""The commands ``cudbound demo``, on a small real data set, and ``cudbound example``, a file to try the others."""

from __future__ import annotations

import textwrap
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import click

from cudbound.basis.words import format_proportion
from cudbound.cli.command import command, finish, say
from cudbound.cli.fitted import compute, fit
from cudbound.inputs.classifier_recipe import DEFAULT, ClassifierRecipe
from cudbound.report.tables import SINGLE

if TYPE_CHECKING:
    from cudbound.inputs.csv_columns import TrainingData

paragraph = partial(textwrap.fill, width=80)
N_SAMPLES = 50
#: The first seed whose training error lies between .15 and .35, where an interval has something to say.
SAMPLE_SEED = 1
SEED = 0
#: The default of the other commands, standardized because the features have different units.
CLASSIFIER = ClassifierRecipe(DEFAULT, standardize=True)
#: As the options of ``cudbound interval`` have them.
ARGUMENTS: dict[str, Any] = {"methods": "recommended", "n_resamples": 1000}
#: The strong features (radius, area, concavity, ...) would separate the classes and leave nothing to see.
FEATURES = ("mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension")


NOT_MEANT = paragraph(
    "What they do not mean: 95% is the share of repeated samples in which such an interval should cover the error. It "
    "is not the probability that this interval does, and no method here guarantees it. One data set does not rank the "
    "methods: a shorter interval may be better, or may miss more often. The numbers do not apply to patients from "
    "another population."
)


def demo_data() -> tuple[TrainingData, TrainingData]:
    """Draw 50 rows at random from the Wisconsin diagnostic breast cancer data in scikit-learn.

    The second set has the remaining rows, which an analyst with 50 patients would not have.
    """
    import numpy as np
    from sklearn.datasets import load_breast_cancer

    from cudbound.inputs.csv_columns import TrainingData

    data = load_breast_cancer()
    X = data.data[:, [list(data.feature_names).index(name) for name in FEATURES]]
    y = (data.target_names[data.target] == "malignant").astype(np.int64)
    order = np.random.default_rng(SAMPLE_SEED).permutation(y.size)
    sample, others = (
        TrainingData(X[rows], y[rows], FEATURES, "scikit-learn load_breast_cancer", "malignant")
        for rows in (order[:N_SAMPLES], order[N_SAMPLES:])
    )
    return sample, others


@command("demo")
def demo() -> None:
    """Show the recommended intervals on a small real data set, and explain what they mean."""
    from cudbound.analysis.performance_interval import compare_intervals
    from cudbound.resampling import Resampling

    sample, others = demo_data()
    introduction = paragraph(
        f"Data: {N_SAMPLES} rows drawn at random (seed {SAMPLE_SEED}) from the {N_SAMPLES + others.y.size} of the "
        f"Wisconsin diagnostic breast cancer data in scikit-learn (load_breast_cancer). The event "
        f"is a {sample.event} tumor; {len(FEATURES)} of the 30 features are used: {', '.join(FEATURES)}."
    )
    click.echo(f"{introduction}\n")
    fitted = fit(CLASSIFIER, sample, SEED)
    table, collected = compute(compare_intervals, {SINGLE: fitted}, Resampling(), rng=SEED, **ARGUMENTS)
    click.echo(table.to_text())
    error = float((fitted.estimator.predict(others.X) != others.y).mean())
    low, high = map(format_proportion, table["two-center"].confidence_interval)
    meaning = paragraph(
        f"What the numbers mean: the training error of the classifier is "
        f"{format_proportion(table['cud'].estimate)}. The interval to report, in the row two-center, is {low} to "
        f"{high}: a 95% confidence interval for its error on new cases from the same population. The demo can check "
        f"this: on the {others.y.size} rows left out, which an analyst with {N_SAMPLES} patients would not have, the "
        f"error is {format_proportion(error)}."
    )
    click.echo(f"\n{meaning}\n\n{NOT_MEANT}")
    finish(collected)


def example_text() -> str:
    """Return the file of simulated patients, one line per patient below a header."""
    # no patient of it exists; its name says so wherever the file itself is found
    return (files("cudbound.inputs") / "simulated_patients.csv").read_text(encoding="utf-8")


@command("example")
def example() -> None:
    """Print a CSV file of 60 simulated patients, for trying the other commands.

    The patients are not real: age, sex, body mass index, creatinine and diabetes were drawn at random, and death from
    a logistic model of age, creatinine and diabetes.
    """
    click.echo(example_text(), nl=False)
    say(
        "these patients are simulated; the columns are id, age, sex, bmi, creatinine, diabetes and died (yes or no)"
    )
