"""What a store keeps of methods' own numbers, and the files that are made of it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from click.testing import CliRunner

from cudbound import compare_intervals
from cudbound.cli import main
from cudbound.exceptions import StudyError
from cudbound.study.design.design_file import read_design
from cudbound.study.report.evidence import evidence
from cudbound.study.run.merge import merge_stores
from cudbound.study.run.replay import replay
from cudbound.study.run.rows import Key
from cudbound.study.run.runner import run_study
from cudbound.study.run.store import Store

DESIGN = """
name = "small"
n_samples = 16
n_replicates = 6
n_resamples = 20
inner = "oob"
methods = ["two-center", "langford-binomial"]
[[scenario]]
world = "gaussians"
[[scenario]]
name = "selected"
world = "noise"
n_features = 8
select = 2
standardize = true
n_samples = 20
n_replicates = 3
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("design") / "d.toml"
    path.write_text(DESIGN)
    return read_design(path)


@pytest.fixture(scope="module")
def store(study, tmp_path_factory):
    place = tmp_path_factory.mktemp("store") / "s.sqlite"
    run_study(study, place)
    return place


def lines(text):
    return list(
        csv.DictReader(io.StringIO(text if isinstance(text, str) else gzip.decompress(text).decode()))
    )


def test_details_are_those_of_the_call(study, store):
    scenario = study.scenarios[0]
    rng = study.rng("gaussians", 16, 2)
    drawn = scenario.population.draw(16, rng)
    classifier = scenario.make_classifier().fit(drawn.X, drawn.y)
    asked = {"methods": "two-center", "n_resamples": 20, "inner": "oob", "rng": rng, "progress": False}
    (row,) = compare_intervals(classifier, drawn.X, drawn.y, **asked).rows
    with Store.open(store) as opened:
        kept = opened.replicate(Key("gaussians", 16, 2)).intervals
    assert json.loads(kept[0].details) == row.details
    assert row.details
    assert replay(study, store, "gaussians", 16, 2).intervals == kept


def test_merged_stores_keep_details(study, store, tmp_path):
    parts = [tmp_path / "1", tmp_path / "2"]
    for number, part in enumerate(parts, start=1):
        run_study(study, part, shard=(number, 2))
    merge_stores(parts, tmp_path / "all")
    with Store.open(tmp_path / "all") as merged, Store.open(store) as whole:
        assert merged.digest() == whole.digest()
    with closing(sqlite3.connect(parts[0])) as connection, connection:
        connection.execute(
            "UPDATE intervals SET details = '{}' WHERE method = 'two-center' AND replicate = 0"
        )
    with pytest.raises(StudyError, match=r"its replicate 0 .* is not that of another part"):
        merge_stores([parts[0]], tmp_path / "all")


def test_cells_are_the_shares_and_means_of_the_rows(store):
    texts = evidence(store)
    rows = lines(texts["rows.csv.gz"])
    assert len(rows) == 2 * (6 + 3)
    for cell in lines(texts["cells.csv"]):
        own = [one for one in rows if (one["scenario"], one["method"]) == (cell["scenario"], cell["method"])]
        truth, low, high, estimate = (
            np.array([float(one[name]) for one in own]) for name in ("truth", "low", "high", "estimate")
        )
        covered = np.mean((low <= truth) & (truth <= high))
        assert float(cell["coverage"]) == pytest.approx(covered)
        assert float(cell["mcse"]) == pytest.approx(np.sqrt(covered * (1 - covered) / len(own)), abs=1e-6)
        assert float(cell["missed_low"]) + float(cell["missed_high"]) == pytest.approx(1 - covered)
        for name, values in (("width", high - low), ("estimate", estimate), ("truth", truth)):
            assert float(cell[name]) == pytest.approx(values.mean(), abs=1e-5)
        assert int(cell["sets"]) == len(own)


def test_cells_say_what_was_fitted_to_what(store):
    cells = {(one["scenario"], one["method"]): one for one in lines(evidence(store)["cells.csv"])}
    cell = cells["selected", "two-center"]
    assert {name: cell[name] for name in ("world", "classifier", "n", "p", "seed", "metric")} == {
        "world": "noise",
        "classifier": "least-squares",
        "n": "20",
        "p": "8",
        "seed": "0",
        "metric": "error",
    }
    assert json.loads(cell["steps"]) == {"standardize": True, "select": 2}
    assert "scikit-learn" in cell["versions"]


def test_the_command_writes_them_and_the_same_again(store, tmp_path):
    for name in ("one", "two"):
        result = CliRunner().invoke(main, ["study", "export", str(store), "--output", str(tmp_path / name)])
        assert result.exit_code == 0, result.output
    names = sorted(one.name for one in (tmp_path / "one").iterdir())
    assert names == ["cells.csv", "design.json", "rows.csv.gz"]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert json.loads((tmp_path / "one" / "design.json").read_text())["name"] == "small"


@pytest.mark.parametrize("text", ['{"a": "b"}', '{"a": [1.0]}'])
def test_details_that_are_no_numbers_are_refused(store, tmp_path, text):
    place = tmp_path / "s.sqlite"
    place.write_bytes(store.read_bytes())
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE intervals SET details = ?", (text,))
    with pytest.raises(StudyError, match="a detail of an interval is no number; it is damaged"):
        evidence(place)
