"""What people read: tables in every format, notes, sentences, reports, help and refusals of the command, kept as pages.

``make pages``, or ``make pages PAGES="NAME ..."``, writes the pages of ``tests/pages`` anew; then read what changed.
The test compares them without their digits, since `tests/golden` has the numbers.
"""

from __future__ import annotations

import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import refusals
from click.testing import CliRunner
from golden_calls import RIVALS, fitted, grouped, sample
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cudbound as cb
from cudbound.basis.exceptions import CudboundWarning, SlowRefitsWarning
from cudbound.cli.command import COMMANDS, main
from cudbound.cli.study import study
from cudbound.intervals import METHODS
from cudbound.point_estimates import ESTIMATORS

FOLDER = Path(__file__).parent
PAGES: dict[str, Callable[[], str]] = {}
FEW = {"n_resamples": 40, "rng": 1}
FORMATS = ("text", "markdown", "html", "latex", "csv", "json")


def page(function: Callable[[], str]) -> Callable[[], str]:
    """Keep a page under the name of its function."""
    PAGES[function.__name__] = function
    return function


def written(name: str) -> str:
    """Return a page, with the warnings of its calls."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", CudboundWarning)
        warnings.simplefilter("ignore", SlowRefitsWarning)  # on a busy machine
        text = PAGES[name]()
    told = {
        f"{one.category.__name__}: {one.message}"
        for one in caught
        if issubclass(one.category, CudboundWarning)
    }
    return "\n\n".join([text.rstrip(), *sorted(told)]) + "\n"


def without_digits(text: str) -> str:
    """Return a text in which numbers of one form are equal, and all versions."""
    text = re.sub(r"(\.\d{6})\d+(e-\d+)?", r"\1", text)  # the last digits depend on the machine
    return re.sub(r"\d", "0", re.sub(r"\b\d+\.\d+(\.\d+)+(\.?\w+)?", "VERSION", text))


def in_every_format(table: Any) -> str:
    return "\n\n".join(f"==== {name}\n{getattr(table, f'to_{name}')()}" for name in FORMATS)


def read(result: Any, percent: bool = False) -> str:
    """Return how a result prints, and its words for a paper."""
    return f"{result}\n\n==== shown\n{result!r}\n\n==== described\n{result.describe(percent=percent)}"


# ---- tables ----


@page
def intervals() -> str:
    return read(cb.compare_intervals(*fitted(cb.LeastSquaresClassifier()), methods="all", **FEW))


@page
def intervals_in_every_format() -> str:
    table = cb.compare_intervals(
        *fitted(cb.LeastSquaresClassifier()), methods=["two-center", "cud", "aci"], **FEW
    )
    return in_every_format(table)


@page
def intervals_in_percent() -> str:
    table = cb.compare_intervals(*fitted(LogisticRegression()), methods="recommended", **FEW)
    return f"{table.to_text(percent=True)}\n\n{table.describe(percent=True)}"


@page
def metrics() -> str:
    names = ["error", "sensitivity", "specificity", "ppv", "npv", "lr+", "lr-", "auc", "brier"]
    data = fitted(make_pipeline(StandardScaler(), LogisticRegression()), n=40)
    return read(
        cb.compare_intervals(
            *data, methods="recommended", metric=cb.Metrics(names, event=1, prevalence=0.3), **FEW
        )
    )


@page
def groups() -> str:
    classifier, X, y, labels = grouped()
    return read(
        cb.compare_intervals(
            classifier, X, y, groups=labels, methods=["two-center", "k-fold-t", "cud"], **FEW
        )
    )


@page
def new_cases() -> str:
    classifier, X, y = fitted(LogisticRegression(), n=60)
    rows = np.arange(60) < 30
    classifier.fit(X[rows], y[rows])
    new = (X[~rows], y[~rows])
    both = cb.performance_interval(classifier, X[rows], y[rows], new_cases=new, **FEW)
    contradicted = cb.performance_interval(classifier, X[rows], y[rows], new_cases=(new[0], -new[1]), **FEW)
    metrics = ["error", "sensitivity", "auc", "brier"]
    table = cb.compare_intervals(classifier, X[rows], y[rows], new_cases=new, metric=metrics, event=1, **FEW)
    every = cb.compare_intervals(classifier, X[rows], y[rows], new_cases=new, methods="all", **FEW)
    return "\n\n".join([str(both), contradicted.sentence, read(table), read(every)])


@page
def more_features_than_rows() -> str:
    return read(
        cb.compare_intervals(*fitted(LogisticRegression(), n=20, n_features=30), methods="recommended", **FEW)
    )


@page
def one_sided() -> str:
    result = cb.performance_interval(*fitted(LogisticRegression()), alternative="less", **FEW)
    return f"{result.sentence}\n\n{read(result, percent=True)}"


@page
def one_interval() -> str:
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=2)
    classifier = make_pipeline(StandardScaler(), SelectKBest(k=2), search)
    result = cb.performance_interval(*fitted(classifier, n=30), n_resamples=20, rng=1)
    return f"{result.sentence}\n\n{read(result)}\n\n{result._repr_html_()}"


@page
def the_bound() -> str:
    return read(cb.cud_interval(*fitted(cb.LeastSquaresClassifier()), **FEW))


@page
def comparisons() -> str:
    table = cb.compare_learners(RIVALS, *sample(), rng=1)
    two = {name: RIVALS[name] for name in ("least-squares", "logistic")}
    against = cb.compare_learners(
        two, *sample(), methods="repeated-k-fold-t", null=0.05, alternative="less", **FEW
    )
    every = cb.compare_learners(two, *sample(), methods="all", **FEW)
    return f"{read(table)}\n\n{read(against)}\n\n{read(every)}\n\n{in_every_format(table)}"


@page
def estimates() -> str:
    table = cb.estimate_error(*fitted(cb.LeastSquaresClassifier()), methods="all", **FEW)
    return f"{table}\n\n{in_every_format(table)}"


@page
def stability_and_calibration() -> str:
    table = cb.compare_intervals(
        *fitted(LogisticRegression()), methods="two-center", metric=["auc", "brier"], **FEW
    )
    return f"{table.instability}\n\n{table.calibration}"


@page
def planned() -> str:
    plan = cb.plan_sample_size(
        cb.LeastSquaresClassifier(), *sample(), n_samples=[20, 40], n_replicates=10, n_resamples=30, rng=1
    )
    return read(plan)


@page
def cards() -> str:
    """All that is said of every method."""
    return in_a_folder(*(f"explain {name}" for name in {**METHODS, **ESTIMATORS}))


@page
def methods() -> str:
    return cb.available_methods().to_string()


# ---- the command ----

GOOD = "interval patients.csv --target sick --positive yes --exclude clinic --seed 1 --resamples 40"


@contextmanager
def a_folder_of_patients() -> Iterator[None]:
    """Make a folder with a file of patients the current one."""
    X, y = sample(n=40)
    frame = pd.DataFrame(X.round(2), columns=["age", "marker", "dose"])
    sex = np.where(X[:, 1] > 0, "m", "f")
    frame = frame.assign(sick=np.where(y > 0, "yes", "no"), clinic=np.arange(40) // 2, sex=sex)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        frame.to_csv("patients.csv", index=False)
        yield


def in_a_folder(*commands: str) -> str:
    """Return what commands print in a folder with a file of patients, each with its exit code."""
    texts = []
    with a_folder_of_patients():
        for line in commands:
            result = CliRunner().invoke(main, line.split(), terminal_width=80)
            output = result.output.replace(str(Path.cwd()), "FOLDER")
            texts.append(f"$ cudbound {line}\n{output}[exit code {result.exit_code}]")
    return "\n\n".join(texts)


@page
def help_of_the_command() -> str:
    groups = {"study": list(study.commands)}
    names = [name for one in COMMANDS for name in (one, *(f"{one} {sub}" for sub in groups.get(one, [])))]
    return in_a_folder("--help", *(f"{name} --help" for name in names))


@page
def command_interval() -> str:
    good = f"{GOOD} --categorical sex"
    return in_a_folder(
        good,
        f"{good} --percent --classifier logistic --metric error,sensitivity,ppv --prevalence 0.2",
        f"{good} --methods paper --format html",
        f"{good} --methods paper --format latex",
        f"{good} --format json",
        f"{good} --format csv",
        f"{good} --describe --save result.json",
        "verify result.json patients.csv",
        "verify result.json nowhere.csv",
    )


@page
def command_of_files_and_learners() -> str:
    data = "patients.csv --target sick --positive yes --categorical sex"
    return in_a_folder(
        f"check {data}",
        f"check {data} --group clinic",
        "check patients.csv --target age",
        f"compare-learners {data} --exclude clinic --learners lda,tree --seed 1",
        f"plan {data} --exclude clinic --n-samples 20,30 --replicates 10 --resamples 20 --seed 1",
        "methods",
        "explain two-center",
        "example",
    )


@page
def refusals_of_the_command() -> str:
    with a_folder_of_patients():
        return "\n".join(refusals.of_the_command())


@page
def refusals_of_the_calls() -> str:
    return "\n".join(refusals.of_calls())


@page
def refusals_of_designs() -> str:
    with a_folder_of_patients():
        return "\n".join(refusals.of_designs())


@page
def refusals_of_files() -> str:
    with a_folder_of_patients():
        return "\n".join(refusals.of_files())


@page
def refusals_of_arrays() -> str:
    return "\n".join(refusals.of_expressions())


@page
def classifiers() -> str:
    return "\n".join(refusals.of_estimators())


# ---- reports ----


@page
def clinical_report() -> str:
    classifier, X, y = fitted(make_pipeline(StandardScaler(), LogisticRegression()), n=40)
    report = cb.clinical_report(classifier, X, y, event=1, n_resamples=40, rng=1)
    return f"{_text_of(report.to_html())}\n\n{report.to_json()}"


@page
def study_report() -> str:
    from study_frames import store_of

    from cudbound.study.study_report import write_report

    with tempfile.TemporaryDirectory() as folder:
        store = store_of(Path(folder) / "study.sqlite")
        write_report(store, Path(folder) / "report.html")
        return f"{_text_of(Path(folder, 'report.html').read_text())}\n\n{cb.study.summarize(store)}"


def _text_of(page_of_html: str) -> str:
    """Return a page without its pictures, scripts and styles, one tag a line."""
    text = re.sub(r"<(svg|script|style)\b.*?</\1>", r"<\1/>", page_of_html, flags=re.DOTALL)
    return re.sub(r">\s*<", ">\n<", text)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or PAGES:
        (FOLDER / f"{chosen}.txt").write_text(written(chosen), encoding="utf-8")
