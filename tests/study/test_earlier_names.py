"""Designs and stores of the time when the localization rate was called alpha."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import pytest

from cudbound import Study
from cudbound.exceptions import StudyError
from cudbound.study.design.design_file import read_design
from cudbound.study.report.write import report_texts, run_notes
from cudbound.study.run.merge import merge_stores
from cudbound.study.run.replay import replay
from cudbound.study.run.rows import IntervalRow, Key
from cudbound.study.run.runner import run_study
from cudbound.study.run.store import Store

DESIGN = """
n_samples = 12
n_replicates = 2
n_resamples = 20
inner = "oob"
{name} = 3.0
methods = ["cud", "langford-binomial"]
[[scenario]]
world = "gaussians"
"""

#: A store of this design as the code wrote it before the change, the first replicate of two, in the tables of today.
STORE = f"""
CREATE TABLE expected_errors (scenario TEXT NOT NULL, n INTEGER NOT NULL, replicate INTEGER NOT NULL, n_train INTEGER NOT NULL, truth REAL NOT NULL, truth_se REAL NOT NULL, PRIMARY KEY (scenario, n, replicate, n_train)) WITHOUT ROWID;
CREATE TABLE intervals (scenario TEXT NOT NULL, n INTEGER NOT NULL, replicate INTEGER NOT NULL, method TEXT NOT NULL, estimand TEXT NOT NULL, estimate REAL, low REAL, high REAL, raw_low REAL, raw_high REAL, n_fits INTEGER NOT NULL, degenerate TEXT, remarks TEXT NOT NULL, standard_error REAL, pvalue REAL, details TEXT, PRIMARY KEY (scenario, n, replicate, method)) WITHOUT ROWID;
INSERT INTO intervals VALUES('gaussians',12,0,'cud','conditional',1.66666666666666657414e-01,0.0,0.5,-1.66666666666666657414e-01,0.5,1,NULL,'quantile proved; 4 single-class draws',NULL,NULL,NULL);
INSERT INTO intervals VALUES('gaussians',12,0,'langford-binomial','conditional',2.40508297258297226717e-01,2.73465737095810075552e-02,6.4825279987285444605e-01,2.73465737095810075552e-02,6.4825279987285444605e-01,21,NULL,'4 single-class draws fitted as drawn',NULL,NULL,NULL);
CREATE TABLE method_timings (scenario TEXT NOT NULL, n INTEGER NOT NULL, replicate INTEGER NOT NULL, method TEXT NOT NULL, seconds REAL NOT NULL, PRIMARY KEY (scenario, n, replicate, method)) WITHOUT ROWID;
CREATE TABLE replicates (scenario TEXT NOT NULL, n INTEGER NOT NULL, replicate INTEGER NOT NULL, truth REAL, truth_se REAL, training_error REAL, n_redrawn INTEGER NOT NULL, failure TEXT, seed TEXT NOT NULL, PRIMARY KEY (scenario, n, replicate)) WITHOUT ROWID;
INSERT INTO replicates VALUES('gaussians',12,0,4.89449848791772834655e-01,0.0,1.66666666666666657414e-01,0,NULL,'numpy.random.SeedSequence([0, 16438522361379148666, 12, 0])');
CREATE TABLE runs (run INTEGER PRIMARY KEY, begun REAL NOT NULL, environment TEXT NOT NULL);
INSERT INTO runs VALUES(1,1.79537124804275846482e+09,'{{"python": "3.11.7", "machine": "Linux x86_64", "cudbound": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1", "scikit-learn": "1.9.1", "joblib": "1.6.0"}}');
CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), description TEXT NOT NULL);
INSERT INTO study VALUES(1,'{{"cudbound": "{version("cudbound")}", "name": "old", "scenarios": {{"gaussians": {{"title": "two Gaussians 1.6 apart in 1 of 3 features, 50% positive; true error by formula for linear classifiers, else on 50000 fixed cases", "population": "gaussians", "parameters": "Gaussians(distance=1.6, n_features=3, n_signal=1, positive_share=0.5, positive_sd=1.0)", "classifier": "LeastSquaresClassifier()", "description": {{"world": "gaussians", "distance": 1.6, "n_features": 3, "n_signal": 1, "positive_share": 0.5, "positive_sd": 1.0, "classifier": "least-squares", "set": {{}}, "scale": false, "components": null, "degree": 1}}}}}}, "n_samples": [12], "n_replicates": 2, "methods": ["cud", "langford-binomial"], "n_resamples": 20, "inner": "oob", "confidence_level": 0.95, "alpha": 3.0, "options": {{}}, "sizes": {{"n_folds": 10, "n_repeats": 10, "n_splits": 15, "test_fraction": 0.1, "n_halvings": 10, "n_replicates": 15, "n_nested_repeats": 50, "holdout_fraction": 0.5}}, "seed": 0, "published": []}}');
CREATE TABLE timings (scenario TEXT NOT NULL, n INTEGER NOT NULL, replicate INTEGER NOT NULL, seconds REAL NOT NULL, finished REAL NOT NULL, PRIMARY KEY (scenario, n, replicate)) WITHOUT ROWID;
INSERT INTO timings VALUES('gaussians',12,0,0.0280658530027722,1.79537124819688940048e+09);
PRAGMA user_version = 4;
PRAGMA application_id = 1668637794;
"""  # noqa: E501 - as SQLite writes it
#: Low and high that the same code gave for the second replicate.
SECOND = {"cud": (0.0, 2 / 3), "langford-binomial": (0.0522327065505002, 0.707354157017834)}


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "old.toml"
    path.write_text(DESIGN.format(name="alpha"))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(STORE)
    return path


def numbers(rows: tuple[IntervalRow, ...]) -> dict[str, tuple[float | None, float | None]]:
    return {row.method: (row.low, row.high) for row in rows}


def test_a_design_may_still_say_alpha(design):
    assert read_design(design).localization == 3.0
    now = design.with_name("now.toml")
    now.write_text(DESIGN.format(name="localization"))
    assert vars(read_design(design)) | {"name": ""} == vars(read_design(now)) | {"name": ""}


def test_a_design_with_both_names_is_refused(design):
    design.write_text("localization = 2.0\n" + design.read_text())
    with pytest.raises(
        ValueError, match=r"old\.toml: alpha is the earlier name of localization; leave one of the two out"
    ):
        read_design(design)


def test_a_store_of_that_time_is_resumed_and_replayed(design, store):
    study = read_design(design)
    assert (run_study(study, store).n_done, study.n_replicates) == (2, 2)
    with Store.open(store) as opened:
        assert opened.description["localization"] == 3.0
        stored = opened.replicate(Key("gaussians", 12, 0))
        second = opened.replicate(Key("gaussians", 12, 1))
    found = numbers(second.intervals)
    assert found.keys() == SECOND.keys()
    for method, limits in SECOND.items():
        assert found[method] == pytest.approx(limits, abs=1e-12)
    again = numbers(replay(study, store, "gaussians", 12, 0).intervals)
    for method, limits in numbers(stored.intervals).items():
        assert again[method] == pytest.approx(limits, abs=1e-12)


def test_a_store_of_that_time_is_reported_on_and_merged(design, store, tmp_path):
    with Store.open(store) as opened:
        assert "Settings: 20 resamples, inner oob, localization = 3.0, seed 0." in run_notes(opened)
    (page,) = report_texts(store, tmp_path / "report.md", format="markdown").values()
    assert "localization = 3.0" in page
    other = tmp_path / "other.sqlite"
    run_study(read_design(design), other, shard=(2, 2))
    assert merge_stores([store, other], tmp_path / "all.sqlite").n_done == 2


def test_another_rate_than_that_of_the_store_is_refused(design, store):
    design.write_text(DESIGN.format(name="localization").replace("3.0", "4.0"))
    with pytest.raises(StudyError, match=r"\(localization: stored 3\.0, now 4\.0\)"):
        run_study(read_design(design), store)


def test_a_study_in_python_names_what_alpha_may_mean(design):
    study = vars(read_design(design))
    with pytest.raises(TypeError, match=r"Study\(\) got an .* 'alpha': .*confidence_level.*localization"):
        Study(**{name: value for name, value in study.items() if name != "localization"}, alpha=3.0)
