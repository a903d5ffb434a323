"""Plots of studies: the artists hold the numbers, and foreign names do no harm."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from study_frames import METHODS, frames_of, made_up_rows, summary_of

from cudbound.plotting.studies import (
    CoverageByScenarioDisplay,
    CoverageWidthDisplay,
    noise_band,
)
from cudbound.study.measure.summary import Summary

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


def test_coverage_against_width(summary):
    ax = axes()
    display = CoverageWidthDisplay(summary.cells, 0.9)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert list(display.artists_) == list(METHODS)
    for method, bars in display.artists_.items():
        cells = summary.cells[summary.cells["method"] == method]
        np.testing.assert_allclose(center_of(bars), [cells["width"], cells["coverage"]])
        for number, name in enumerate(("width", "coverage")):
            lower = cells[name] - cells[f"{name}_mcse"]
            upper = cells[name] + cells[f"{name}_mcse"]
            np.testing.assert_allclose(ends_of(bars, number, number), np.column_stack([lower, upper]))
    assert set(display.level_line_.get_ydata()) == {0.9}
    assert [text.get_text() for text in display.legend_.get_texts()] == list(METHODS)


def test_coverage_by_scenario(summary):
    display = CoverageByScenarioDisplay(summary.cells).plot(axes())
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


def displays(cells):
    return (
        CoverageWidthDisplay(cells),
        CoverageByScenarioDisplay(cells),
    )


def test_hostile_names_are_shown_as_they_are(summary):
    cells = summary.cells.replace({"scenario": {"null": HOSTILE}, "method": {"cud": HOSTILE}})
    for display in displays(cells):
        text = display.svg("a")
        shown = "".join(ET.fromstring(text).itertext())
        assert "$\\frac{$ <b>&\\n_名" in shown


def test_svg_is_one_element_and_repeats(summary):
    display = CoverageWidthDisplay(summary.cells)
    text = display.svg("a")
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert text == display.svg("a")
