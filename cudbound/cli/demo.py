"""The commands ``cudbound demo``, on a small real data set, and ``cudbound example``, a file to try the others."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudbound.basis.rounding import format_proportion
from cudbound.cli.command import command, say
from cudbound.cli.fitted import FittedClassifier, fit
from cudbound.cli.output import ResultOutput, check_paths, emit, finish, output_option
from cudbound.cli.run_interval import compute, write
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.report.plain_text import paragraph

if TYPE_CHECKING:
    from cudbound.analysis.table import IntervalTable
    from cudbound.inputs.csv_columns import TrainingData

#: No patient of it exists; its name says so wherever the file itself is found.
NAME = "simulated_patients.csv"
N_SAMPLES = 50
#: The first seed whose training error lies between .15 and .35, where an interval has something to say.
SAMPLE_SEED = 1
SEED = 0
#: As the options of ``cudbound interval`` have them.
ARGUMENTS: dict[str, Any] = {"methods": "recommended", "n_resamples": 1000}
#: The strong features (radius, area, concavity, ...) would separate the classes and leave nothing to see.
FEATURES = ("mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension")


@dataclass(frozen=True)
class DemoData:
    """The sample of the demo, and the remaining rows, which an analyst with 50 patients would not have."""

    sample: TrainingData
    others: TrainingData


def demo_data() -> DemoData:
    """Draw 50 rows at random from the Wisconsin diagnostic breast cancer data in scikit-learn."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer

    from cudbound.inputs.csv_columns import TrainingData

    data = load_breast_cancer()
    columns = [list(data.feature_names).index(name) for name in FEATURES]
    X = data.data[:, columns]
    y = (data.target_names[data.target] == "malignant").astype(np.int64)
    order = np.random.default_rng(SAMPLE_SEED).permutation(y.size)
    chosen, others = (
        TrainingData(X[rows], y[rows], FEATURES, "scikit-learn load_breast_cancer", "malignant")
        for rows in (order[:N_SAMPLES], order[N_SAMPLES:])
    )
    return DemoData(chosen, others)


def introduction(data: DemoData) -> str:
    """Return a description of the data."""
    total = data.sample.y.size + data.others.y.size
    return paragraph(
        f"Data: {data.sample.y.size} rows drawn at random (seed {SAMPLE_SEED}) from the {total} of the "
        f"Wisconsin diagnostic breast cancer data in scikit-learn (load_breast_cancer). The event "
        f"is a {data.sample.event} tumor; {len(FEATURES)} of the 30 features are used: "
        f"{', '.join(FEATURES)}."
    )


def meaning(data: DemoData, fitted: FittedClassifier, table: IntervalTable) -> str:
    """Explain what the numbers of the demo mean, and what they do not."""
    cud, ours = table["cud"], table["two-center"]
    low, high = (format_proportion(x) for x in (ours.confidence_interval.low, ours.confidence_interval.high))
    wrong = fitted.estimator.predict(data.others.X) != data.others.y
    return "\n\n".join(
        [
            paragraph(
                f"What the numbers mean: the training error of the classifier is {format_proportion(cud.estimate)}. "
                f"The interval to report, in the row two-center, is {low} to {high}: a 95% confidence interval for "
                f"its error on new cases from the same population. The demo can check this: on the {wrong.size} rows "
                f"left out, which an analyst with {data.sample.y.size} patients would not have, the error is "
                f"{format_proportion(wrong.mean())}."
            ),
            paragraph(
                "What they do not mean: 95% is the share of repeated samples in which such an interval should "
                "cover the error. It is not the probability that this interval does, and no method here guarantees "
                "it. One data set does not rank the methods: a shorter interval may be better, or may miss more "
                "often. The numbers do not apply to patients from another population."
            ),
        ]
    )


@command("demo")
def demo() -> None:
    """Show the recommended intervals on a small real data set, and explain what they mean."""
    from cudbound.report.table_style import Style

    data = demo_data()
    click.echo(introduction(data) + "\n")
    fitted = fit(ClassifierRecipe(), data.sample, SEED)
    table, collected, _ = compute(fitted, SEED, **ARGUMENTS)
    write(table, ResultOutput("table", style=Style()))
    click.echo("\n" + meaning(data, fitted, table))
    finish([*fitted.warnings, *collected.messages], collected.certified)


def example_text() -> str:
    """Return the file of simulated patients, one line per patient below a header."""
    return (files("cudbound.inputs") / NAME).read_text(encoding="utf-8")


@command("example")
@output_option("File to write; - for stdout, the default. An existing file is replaced.")
def example(*, path: Path | None) -> None:
    """Print a CSV file of 60 simulated patients, for trying the other commands.

    The patients are not real: age, sex, body mass index, creatinine and diabetes were drawn at random, and death from
    a logistic model of age, creatinine and diabetes.
    """
    check_paths({"--output": path})
    emit(example_text().removesuffix("\n"), path)
    say(
        "these patients are simulated; the columns are id, age, sex, bmi, creatinine, diabetes and died (yes or no)"
    )
