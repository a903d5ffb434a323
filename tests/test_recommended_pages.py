"""The tables of the confirmation, from small files."""

from __future__ import annotations

import pytest
import recommended_pages as made
from docs_pages import renewed

CELLS = """\
metric,kind,cell,n,p,classifier,method,copies,sets,failed,coverage,mcse,below,above,width,width_over_new,keeps_level,confirmed
error,few columns,plain,50,3,logistic,two-center,true,1000,0,0.960,0.006,0.015,0.025,0.25,1.05,True,
error,few columns,plain,50,3,logistic,two-center before,true,1000,0,0.970,0.005,0.010,0.020,0.27,1.15,True,
error,few columns,plain,50,3,logistic,nested-cv,true,1000,0,0.900,0.009,0.050,0.050,0.20,0.85,False,
error,flexible,tree,80,4,tree,two-center,true,300,1,0.900,0.017,0.040,0.060,0.30,1.25,False,0.938
error,groups,patients,100,3,logistic,two-center,true,1000,0,0.880,0.010,0.050,0.070,0.28,1.10,False,0.890
error,splits inside,tuned,100,2,k-NN,two-center,false,400,0,0.975,0.008,0.010,0.015,0.20,1.08,True,
error,splits inside,tuned,100,2,k-NN,two-center,true,400,0,0.500,0.025,0.500,0.000,0.25,1.43,False,
error,several classes,three,60,3,lda,two-center,true,300,0,0.940,0.014,0.020,0.040,0.22,1.04,True,
auc,few columns,plain,50,3,logistic,two-center,true,1000,0,0.955,0.007,0.020,0.025,0.21,1.20,True,
sensitivity,one classification,rare,60,4,logistic,two-center,true,1000,0,0.990,0.003,0.004,0.006,0.50,,True,
"""
MISSES = """\
metric,cell,seed,sets,coverage,mcse,keeps_level
error,tree,20261227,600,0.938,0.010,True
error,patients,20261227,3000,0.890,0.006,False
"""
VARIANTS = """\
metric,variant,cells,short,lowest,width_over_new
error,Jeffreys limits,100,3,0.925,1.04
"""


@pytest.fixture
def cells(tmp_path, monkeypatch):
    for name, text in (("cells", CELLS), ("misses", MISSES), ("variants", VARIANTS)):
        (tmp_path / f"{name}.csv").write_text(text)
    monkeypatch.setattr(made, "FOLDER", tmp_path)
    return made.read()


def lines(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_a_line_per_metric_has_the_form_of_the_package(cells):
    """Without copies where a learner splits its rows: .5 is not the lowest coverage."""
    assert lines(made.in_short(cells)) == [
        ["error", "4", "2", "0.880: patients, n = 100", "0.890", "1.12"],
        ["AUC", "1", "1", "0.955: plain, n = 50", "", "1.20"],
        ["error, several classes", "1", "1", "0.940: three, n = 60", "", "1.04"],
        ["clinical metrics", "1", "1", "0.990: rare, n = 60", "", ""],
    ]


def test_aims_leave_groups_out_of_the_coverage_and_say_what_is_not_met(cells):
    aims = {line[0]: line[1:] for line in lines(made.aims(cells))}
    assert aims["lowest confirmed coverage, independent rows"] == ["at least 0.93", "0.938", "yes"]
    assert aims["mean width, error"] == ["at most 1.12", "1.120", "yes"]
    assert aims["mean width, AUC"] == ["at most 1.18", "1.200", "**no**"]
    short = cells.assign(confirmed=cells["confirmed"].where(cells["cell"] != "tree", 0.92))
    assert lines(made.aims(short))[0][-1] == "**no**"


def test_all_cells_have_the_worst_first_and_others_beside(cells):
    table = made.all_cells("error", cells)
    assert [line[0] for line in lines(table)] == ["patients", "tree", "three", "plain", "tuned"]
    plain = lines(table)[3]
    assert plain[5:] == ["0.960 ± 0.006", "0.015, 0.025", "0.250 (1.05)", "0.970 (1.15)", "0.900 (0.85)"]
    assert lines(table)[0][5].endswith("**no**")
    assert lines(made.all_cells(made.CLINICAL, cells))[0][:2] == ["sensitivity", "rare"]


def test_both_ways_to_refit_a_learner_that_splits(cells):
    assert lines(made.splitting(cells)) == [["tuned", "error", "0.975 (1.08)", "0.500 (1.43)"]]


def test_misses_and_what_remains_of_them(cells):
    assert lines(made.misses(cells))[0] == ["patients", "error", "0.880", "3000", "0.890 ± 0.006", "**no**"]
    assert lines(made.misses(cells))[1][2:] == ["0.900", "600", "0.938 ± 0.010", "yes"]
    assert lines(made.confirmed(cells)) == [["patients, n = 100", "error", "0.890 ± 0.006"]]


def test_every_kind_and_method_has_its_line(cells):
    assert [line[:3] for line in lines(made.kinds(cells))][:2] == [
        ["few columns", "error", "1"],
        ["few columns", "AUC", "1"],
    ]
    of_error = [line for line in lines(made.methods(cells)) if line[0] == "error"]
    assert [line[1] for line in of_error] == ["`two-center`", "two-center before", "`nested-cv`"]
    assert lines(made.variants(cells)) == [["error", "Jeffreys limits", "100", "3", "0.925", "1.04"]]


def test_tables_of_a_study_that_runs_stay_as_they_are(monkeypatch):
    page = "<!-- generated: recommended-in-short -->\nlater\n<!-- end -->\n"
    monkeypatch.setattr(made, "THERE", False)
    assert renewed(page) == page
