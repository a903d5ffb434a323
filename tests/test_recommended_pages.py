"""The tables of the confirmation, from small files."""

from __future__ import annotations

import pytest
import recommended_pages as made

CELLS = """\
metric,kind,cell,n,p,classifier,method,copies,sets,failed,coverage,mcse,low_above_truth,high_below_truth,width,width_over_new,overfits_before,keeps_level
error,few columns,plain,50,3,logistic,two-center,True,1000,0,0.960,0.006,0.015,0.025,0.25,1.05,0.1,True
error,few columns,plain,50,3,logistic,two-center before,True,1000,0,0.970,0.005,0.010,0.020,0.27,1.15,0.1,True
error,few columns,plain,50,3,logistic,nested-cv,True,1000,0,0.900,0.009,0.050,0.050,0.20,0.85,0.1,False
error,flexible,tree,80,4,tree,two-center,True,300,1,0.900,0.017,0.040,0.060,0.30,1.25,0.9,False
error,groups,patients,100,3,logistic,two-center,True,1000,0,0.880,0.010,0.050,0.070,0.28,1.10,0.0,False
error,splits inside,tuned,100,2,k-NN,two-center,False,400,0,0.975,0.008,0.010,0.015,0.20,1.08,0.2,True
error,splits inside,tuned,100,2,k-NN,two-center,True,400,0,0.500,0.025,0.500,0.000,0.25,1.43,0.2,False
error,several classes,three,60,3,lda,two-center,True,300,0,0.940,0.014,0.020,0.040,0.22,1.04,0.1,True
auc,few columns,plain,50,3,logistic,two-center,True,1000,0,0.955,0.007,0.020,0.025,0.21,1.20,0.1,True
sensitivity,one classification,rare,60,4,logistic,two-center,True,1000,0,0.990,0.003,0.004,0.006,0.50,,,True
"""
#: Of a cell that was run again, also metrics and ways of refitting without a miss.
MISSES = """\
metric,cell,copies,sets,coverage,mcse,keeps_level,coverage_before,width_before
error,tree,True,600,0.938,0.010,True,0.980,1.3
auc,tree,True,600,0.100,0.010,False,0.980,1.3
error,patients,True,3000,0.890,0.006,False,0.955,1.125
error,tuned,True,400,0.510,0.025,False,0.980,1.3
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
        ["error", "4", "2", "0.880: patients, n = 100, 1000 sets", "0.890", "1.12"],
        ["AUC", "1", "1", "0.955: plain, n = 50, 1000 sets", "", "1.20"],
        ["error, several classes", "1", "1", "0.940: three, n = 60, 300 sets", "", "1.04"],
        ["clinical metrics", "1", "1", "0.990: rare, n = 60, 1000 sets", "", ""],
    ]


def test_aims_leave_groups_out_of_the_coverage_and_say_what_is_not_met(cells):
    aims = {line[0]: line[1:] for line in lines(made.aims(cells))}
    assert aims["lowest confirmed coverage, independent rows"] == ["at least 0.93", "0.938", "yes"]
    assert aims["mean width, error"] == ["at most 1.12", "1.120", "yes"]
    assert aims["mean width, AUC"] == ["at most 1.18", "1.200", "**no**"]
    assert aims["mean width, error, classifiers that overfit"] == ["at most 1.20", "1.250", "**no**"]
    assert made.aims(cells[cells["cell"] != "tree"]).splitlines()[2].count("no miss") == 1


def test_all_cells_have_the_worst_first_and_others_beside(cells):
    table = made.all_cells("error", cells)
    assert [line[0] for line in lines(table)] == ["patients", "tree", "three", "plain", "tuned"]
    plain = lines(table)[3]
    assert plain[5:] == ["0.960 ± 0.006", "0.015, 0.025", "0.250 (1.05)", "0.970 (1.15)", "0.900 (0.85)"]
    assert lines(table)[0][5].endswith("**no**")
    assert lines(made.all_cells(made.CLINICAL, cells))[0][:2] == ["sensitivity", "rare"]


def test_both_ways_to_refit_a_learner_that_splits(cells):
    assert lines(made.splitting(cells)) == [
        ["tuned", "error", "0.975 (1.08)", "0.500 (1.43)"],
        ["reached 95%, of 1 with both", "all", "1 (1.08)", "0 (1.43)"],
    ]


def test_misses_and_what_remains_of_them(cells):
    assert lines(made.misses(cells)) == [
        ["patients", "error", "0.880 ± 0.010", "3000", "0.890 ± 0.006", "**no**", "0.955 (1.12)"],
        ["tree", "error", "0.900 ± 0.017", "600", "0.938 ± 0.010", "yes", "0.980 (1.30)"],
    ]
    assert lines(made.confirmed(cells)) == [["patients, n = 100", "error", "0.890 ± 0.006"]]


def test_a_miss_that_was_not_run_again_stays_in_the_table(cells, tmp_path):
    (tmp_path / "misses.csv").write_text(MISSES.replace("error,tree", "error,another"))
    assert lines(made.misses(cells))[-1] == ["tree", "error", "0.900 ± 0.017", "not run", "", "", ""]
    assert lines(made.confirmed(cells)) == [["patients, n = 100", "error", "0.890 ± 0.006"]]


def test_a_run_that_was_stopped_says_how_many_sets_each_kind_of_cell_has(cells):
    complete = cells.assign(registered_sets=cells["sets"])
    assert made.progress(complete) == "All 4,000 registered sets have run."
    few = complete.assign(sets=cells["sets"] // 4)
    assert "1,000 of 4,000 registered sets" in made.progress(few)
    assert "at least 25% of those of every cell" in made.progress(few)


def test_every_kind_and_method_has_its_line(cells):
    assert [line[:3] for line in lines(made.kinds(cells))][:2] == [
        ["few columns", "error", "1"],
        ["few columns", "AUC", "1"],
    ]
    of_error = [line for line in lines(made.methods(cells)) if line[0] == "error"]
    assert [line[1] for line in of_error] == ["`two-center`", "two-center before", "`nested-cv`"]
    assert lines(made.variants(cells)) == [["error", "Jeffreys limits", "100", "3", "0.925", "1.04"]]
