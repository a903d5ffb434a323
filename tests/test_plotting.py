"""Plots of results and of studies: the artists hold the numbers, and foreign names do no harm."""

from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from docs_pages import ROOT
from docs_pictures import OF_RESULTS
from explained_pictures import FIGURES, RC
from matplotlib.figure import Figure
from study_frames import METHODS as STUDIED
from study_frames import frames_of, made_up_rows, summary_of

from cudbound import ComparisonTable, ConfidenceInterval, IntervalEstimate, IntervalTable
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.results import ComparisonResult, Estimand
from cudbound.intervals import METHODS
from cudbound.plotting.forest import IntervalDisplay
from cudbound.plotting.studies import CoverageByScenarioDisplay, HalfWidthDisplay, noise_band
from cudbound.report.tables import Run
from cudbound.study.summary import Summary

# ---- plots of studies ----


HOSTILE = "$\\frac{$ <b>&\n_名"


@pytest.fixture(autouse=True)
def no_window():
    with mpl.rc_context({"backend": "agg"}):
        yield
        import matplotlib.pyplot as plt

        plt.close("all")


@pytest.fixture(scope="module")
def summary() -> Summary:
    return summary_of(frames_of(made_up_rows(n_replicates=25)))


def axes():
    return Figure(layout="constrained").subplots()


def center_of(bars) -> tuple[np.ndarray, np.ndarray]:
    return bars.lines[0].get_data(orig=False)


def ends_of(bars, number: int, axis: int) -> np.ndarray:
    """The lower and the upper end of each error bar, shape (points, 2)."""
    return np.array([segment[:, axis] for segment in bars.lines[2][number].get_segments()], float)


def test_coverage_by_scenario(summary):
    ax = axes()
    display = CoverageByScenarioDisplay(summary.cells)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert list(display.artists_) == list(STUDIED)
    assert set(display.level_line_.get_xdata()) == {0.95}
    assert [text.get_text() for text in display.legend_.get_texts()] == list(STUDIED)
    assert display.labels == ["donut, n = 30", "donut, n = 50", "null, n = 30", "null, n = 50"]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == display.labels
    for method, bars in display.artists_.items():
        cells = summary.cells[summary.cells["method"] == method]
        coverage, line = center_of(bars)
        np.testing.assert_allclose(coverage, cells["coverage"])
        assert np.round(line).tolist() == [0, 1, 2, 3]  # each within the strip of its cell
        np.testing.assert_allclose(ends_of(bars, 0, 0), cells[["coverage_low", "coverage_high"]], atol=1e-12)
    assert display.ax_.yaxis_inverted()  # the first cell is on top
    assert display.level_label_.get_text() == "nominal 95%"
    assert display.level_label_.get_position() == (0.95, 1.01)


def test_the_band_of_noise_is_that_of_an_exact_interval(summary):
    low, high = noise_band(summary.cells.assign(n_replicates=1000), 0.95)
    assert (low, high) == pytest.approx((0.9365, 0.9635), abs=5e-5)  # 0.95 -+ 1.96 x 0.0069


def test_hostile_names_are_shown_as_they_are(summary):
    cells = summary.cells.replace({"scenario": {"null": HOSTILE}, "method": {"cud": HOSTILE}})
    text = CoverageByScenarioDisplay(cells).svg("a")
    assert "$\\frac{$ <b>&\\n_名" in "".join(ET.fromstring(text).itertext())


def test_svg_is_one_element_and_repeats(summary):
    display = CoverageByScenarioDisplay(summary.cells)
    text = display.svg("a")
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert text == display.svg("a")


def test_half_widths_of_a_plan_have_a_falling_curve():
    frame = pd.DataFrame(
        {
            "n": [25, 100, 400],
            "mean_half_width": [0.2, 0.1, 0.12],
            "quantile_half_width": [0.3, 0.15, 0.1],
            "mean_half_width_mcse": 0.01,
            "quantile_half_width_mcse": 0.02,
            "half_width": 0.12,
            "probability": 0.8,
        }
    )
    display = HalfWidthDisplay(frame, 225.0).plot()
    at, heights = display.mean_curve_.get_data()
    assert np.interp([25, 100, 400], at, heights) == pytest.approx([0.2, 0.11, 0.11])
    at, heights = display.quantile_curve_.get_data()
    assert np.interp([25, 100, 400], at, heights) == pytest.approx([0.3, 0.15, 0.1])
    # 1/6 is two thirds of the way from 1/10 to 1/5
    assert np.interp(36, at, heights) == pytest.approx(0.25, abs=1e-3)
    assert center_of(display.mean_)[1] == pytest.approx([0.2, 0.1, 0.12])
    assert display.answer_.get_xydata().tolist() == [[225.0, 0.12]]
    assert [text.get_text() for text in display.legend_.get_texts()] == [
        "80% of the samples keep to it",
        "expected",
        "target: 0.12",
        "n = 225",
    ]


# ---- plots of tables and results ----


RUN = Run("patients.csv", 48, 17, 31, "died = yes", ("age",), 1000, "n", 3)


def row(method: str, estimate: float, low: float, high: float) -> IntervalEstimate:
    return IntervalEstimate(
        method=method,
        words=METHODS[method].words() if method in METHODS else None,
        estimate=estimate,
        raw_interval=ConfidenceInterval(low, high),
        estimand=Estimand("conditional"),
        confidence_level=0.95,
        n_fits=1,
    )


NAN = float("nan")
TABLE = IntervalTable(
    (
        row("two-center", 0.25, 0.125, 0.375),
        row("shifted", 0.5, 0.125, 0.25),  # limits that leave out their estimate
        row("cud", NAN, NAN, NAN),
        row("martin-beta", 0.25, -0.5, 1.5),
    ),
    RUN,
)


def ends(bar) -> list[list[float]]:
    return [segment[:, 0].tolist() for segment in bar.lines[2][0].get_segments()]


def test_the_forest_has_a_line_for_each_interval_and_the_base_rate():
    ax = Figure().subplots()
    display = TABLE.plot(ax)
    assert isinstance(display, IntervalDisplay)
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    names = [label.get_text().replace("\n", " ") for label in ax.get_yticklabels()]
    assert names[0] == f"{METHODS['two-center'].title} (recommended)"
    assert names[1:] == ["shifted", METHODS["cud"].title, METHODS["martin-beta"].title]
    assert [label.get_fontweight() for label in ax.get_yticklabels()] == ["bold"] + ["normal"] * 3
    assert [text.get_text() for text in display.numbers_] == [
        "0.250 (0.125 to 0.375)",
        "0.500 (0.125 to 0.250)",
        "not available",
        "0.250 (0.000 to 1.000)",
    ]
    assert (ax.get_xlabel(), ax.get_xlim()) == ("Classification error", (0.0, 1.0))
    assert display.axes_ == [ax]
    assert [None if bar is None else ends(bar)[0] for bar in display.artists_] == [
        [0.125, 0.375],
        [0.125, 0.25],
        None,
        [0.0, 1.0],
    ]
    estimates = [line for line in ax.lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in estimates] == [0.25, 0.5, 0.25]
    assert set(display.reference_line_.get_xdata()) == {17 / 48}
    assert ax.get_legend().get_texts()[0].get_text() == "always the majority\nclass: 0.354"
    assert ax.yaxis_inverted()  # the first method is on top


@pytest.mark.parametrize(("at", "limit"), [(0.0, 0.1), (1.0, 1.0)])
def test_intervals_without_width_are_whole_on_an_axis_from_0(at, limit):
    display = IntervalTable((row("cud", at, at, at),)).plot(Figure().subplots())
    assert display.ax_.get_xlim() == (0.0, limit)
    assert not any(line.get_clip_on() for line in display.ax_.lines)


@pytest.mark.parametrize(("null", "label"), [(0.0, "equal errors"), (0.05, "margin 0.050")])
def test_the_forest_of_comparisons_has_the_margin(null, label):
    result = ComparisonResult(
        method="mcnemar",
        estimate=-0.0625,
        statistic=1.0,
        pvalue=0.3,
        raw_interval=ConfidenceInterval(-0.125, 0.0),
        confidence_level=0.95,
        alternative="less",
        null=null,
        estimand=Estimand("holdout-model"),
        n_fits=2,
    )
    display = ComparisonTable((result,)).plot(Figure().subplots())
    assert ends(display.artists_[0]) == [[-0.125, 0.0]]
    assert set(display.reference_line_.get_xdata()) == {null}
    assert display.ax_.get_legend().get_texts()[0].get_text() == label
    low, high = display.ax_.get_xlim()
    assert low == -high
    assert [text.get_text() for text in display.favors_] == ["← favors a", "favors b →"]
    ranked = ComparisonTable((dataclasses.replace(result, metric="auc"),)).plot(Figure().subplots())
    assert [text.get_text() for text in ranked.favors_] == ["← favors b", "favors a →"]


@pytest.mark.parametrize("format", ["svg", "png", "pdf"])
def test_files_repeat_and_have_no_date(format, tmp_path):
    display = IntervalDisplay.from_table(TABLE)
    path = tmp_path / f"picture.{format.upper()}"
    display.save(path)
    assert path.read_bytes() == display.image(path) == IntervalDisplay.from_table(TABLE).image(path)
    head = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    assert path.read_bytes().startswith(head[format])
    assert b"CreationDate" not in path.read_bytes()
    assert b"<dc:date>" not in path.read_bytes()
    assert not hasattr(display, "ax_")  # a file leaves the display as it was


def test_other_files_are_refused(tmp_path):
    display = IntervalDisplay.from_table(TABLE)
    with pytest.raises(ParameterError, match=r"'path' parameter must be a name that ends in one of \['.svg'"):
        display.save(tmp_path / "picture.bmp")
    assert list(tmp_path.iterdir()) == []


def test_hostile_names_of_methods_are_shown_as_they_are():
    text = IntervalDisplay.from_table(IntervalTable((row(HOSTILE, 0.25, 0.1, 0.5),))).svg("a")
    assert "$\\frac{$ <b>&\\n_名" in "".join(ET.fromstring(text).itertext())


@pytest.mark.parametrize("name", OF_RESULTS)
def test_pictures_of_the_documentation_are_up_to_date(name):
    """By their words and marks: how many digits a path has depends on the version of matplotlib."""

    def content(text: str) -> tuple[list[str], int]:
        root = ET.fromstring(text)
        words = [word.strip() for word in root.itertext() if word.strip()]
        return words, len(list(root.iter("{http://www.w3.org/2000/svg}path")))

    there = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    renew = "renew it with: python docs/made/docs_pictures.py docs/pictures"
    assert content(there) == content(OF_RESULTS[name]().svg(name)), renew


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_the_explanations_are_up_to_date(name, tmp_path):
    """By their words; the tree fails by itself where its Q is not that of the solver."""
    with mpl.rc_context(RC):
        FIGURES[name]().savefig(tmp_path / "now.svg")

    def words(path: Path) -> list[str]:
        return [word.strip() for word in ET.parse(path).getroot().itertext() if word.strip()]

    metadata = 2  # of the date and the program
    there = words(ROOT / "docs" / "pictures" / f"{name}.svg")
    assert set(there) <= set(words(tmp_path / "now.svg")), "renew it with docs/made/explained_pictures.py"
    assert len(there) > metadata


def test_every_picture_of_the_documentation_is_shown():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text() for page in pages)
    names = sorted(path.name for path in (ROOT / "docs" / "pictures").iterdir())
    assert sorted(set(re.findall(r"\]\((?:docs/|\.\./)?pictures/([\w.]+)\)", text))) == names
