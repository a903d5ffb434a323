"""Proportions in percent: tables, notes, sentences to quote, pictures."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cli_fakes import invoke
from unwrapped import unwrapped

from cudbound import (
    LeastSquaresClassifier,
    Metrics,
    compare_intervals,
    compare_learners,
    estimate_error,
    performance_interval,
    plan_sample_size,
)
from cudbound.basis.proportions import within
from cudbound.basis.rounding import format_proportion
from cudbound.metrics.predictive import Proportion
from cudbound.report.tables import Style

RNG = np.random.default_rng(3)
#: Separable, so that limits are too low to be believed, and remarks say from where limits were taken.
X = np.concatenate([RNG.normal(-4.0, 1.0, size=(20, 2)), RNG.normal(4.0, 1.0, size=(20, 2))])
Y = np.repeat(["well", "ill"], 20)
CLF = LeastSquaresClassifier().fit(X, Y)
#: Of labels that nothing predicts, which the classifier learns by heart.
NOISE = RNG.normal(size=(30, 9))
LABELS = np.repeat([0, 1], 15)
OVERFITTED = LeastSquaresClassifier().fit(NOISE, LABELS)
FEW = {"n_resamples": 60, "rng": 0}
#: A proportion, but for numbers with a percent sign.
BARE = r"(?<![\d.%])[01]\.\d{2,}(?![\d]*%)"


def test_bounds_are_written_with_digits_enough_to_differ():
    assert within(0.2500001, 0.2500004) == "between 0.2500001 and 0.2500004"
    assert within(0.25, 0.25) == format_proportion(0.25) == "0.250"


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.CudboundWarning")
def test_tables_have_no_other_proportions():
    asked = ["two-center", "cud", "bayle-cv"]
    table = compare_intervals(CLF, X, Y, methods=asked, **FEW)
    plain, percent = table.to_text(), table.to_text(percent=True)
    assert "Too good to be true" in plain
    for text in (
        percent,
        table.to_markdown(percent=True),
        table.to_html(percent=True),
        table.describe(True).results,
    ):
        assert not re.search(BARE, re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)), text
    paper = table.to_text(style="paper", percent=True)
    assert not re.search(BARE, paper), paper
    points = estimate_error(CLF, X, Y, methods="all", **FEW).to_text(percent=True)
    assert re.search(r"\d\.\d%", points)


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.CudboundWarning")
def test_one_interval_has_its_sentence_in_percent():
    found = performance_interval(OVERFITTED, NOISE, LABELS, **FEW)
    assert re.search(r"estimated at 0\.\d{3} ", found.sentence)
    assert re.search(r"estimated at \d+\.\d% ", found.describe(percent=True).results)


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.CudboundWarning")
def test_ratios_and_costs_keep_their_units():
    overlapping = LeastSquaresClassifier().fit(X[:, :1] + 9.0 * RNG.normal(size=(40, 1)), Y)
    rows = RNG.normal(size=(40, 1))
    asked = Metrics(["sensitivity", "lr+", "cost"], "ill", {"ill": 2.0, "well": 1.0})
    table = compare_intervals(overlapping, rows, Y, methods="two-center", metric=asked, **FEW)
    cells = {row[1]: row[2:5] for row in table.report(style=Style(percent=True)).cells()}
    paper = {row[0]: row[1:] for row in table.report(style=Style("paper", percent=True)).cells()}
    assert all("%" in cell for cell in (*cells["sensitivity"], *paper["sensitivity"]))
    others = (
        *cells["lr+"],
        *cells["cost"],
        *paper["positive likelihood ratio"],
        *paper["mean cost of the errors"],
    )
    assert not any("%" in cell for cell in others)
    prevalence = Proportion(0.25, 0.125, 0.5, 40).in_words("of the sample")
    assert prevalence == "the prevalence 0.250 of the sample, limits 0.125 to 0.500"


def test_one_method_on_paper_has_a_row_for_each_metric():
    asked = Metrics(["sensitivity", "specificity"], "ill")
    table = compare_intervals(CLF, X, Y, methods="two-center", metric=asked, **FEW)
    text = table.to_text(style="paper")
    assert re.search(r"^Metric +Estimate \(95% CI\)$", text, re.MULTILINE)
    assert re.search(r"^sensitivity +\d", text, re.MULTILINE)
    assert "and the .632+ estimate (two-center)" in unwrapped(text)


def test_a_margin_is_written_in_percent():
    rows = X[:, :1] + 5.0 * RNG.normal(size=(40, 1))
    found = compare_learners(
        {"least": LeastSquaresClassifier(), "most": "majority"},
        rows,
        Y,
        alternative="less",
        null=0.025,
        rng=0,
    )
    assert "against error(least) - error(most) >= 0.025)" in found.describe().results
    assert "against error(least) - error(most) >= 2.5%)" in found.describe(percent=True).results
    notes = unwrapped(found.to_text(percent=True))
    assert "evidence for error(least) - error(most) < 2.5%;" in notes
    assert "in [-100%, 100%], limits clipped to it" in notes


def test_a_plan_is_written_in_percent():
    plan = plan_sample_size(
        LeastSquaresClassifier(), world="gaussians", n_samples=(20, 40), n_replicates=10, n_resamples=20,
        half_width=0.125, probability=0.75, method="langford-binomial", rng=1,
    )  # fmt: skip
    assert "a half-width of at most 0.125 with probability 0.75 from" in plan.describe().results
    text = unwrapped(plan.to_text(percent=True))
    assert "a half-width of at most 12.5% with probability 75% from" in text
    assert "<= 12.5%" in text
    assert not re.search(BARE, text), text
    assert "at most 12.5% with probability 75% from" in plan.describe(percent=True).results
    assert "a classifier (least-squares classification) was fitted" in plan.describe().methods


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.CudboundWarning")
def test_pictures_are_in_percent():
    asked = Metrics(["error", "cost"], "ill", {"ill": 2.0, "well": 1.0})
    display = compare_intervals(CLF, X, Y, methods="two-center", metric=asked, **FEW).display()
    display.percent = True
    error, cost = (one.get_text() for one in display.plot().numbers_)
    assert re.fullmatch(r"\d+\.\d% \(\d+\.\d% to \d+\.\d%\)", error)
    assert "%" not in cost
    display.figure_.canvas.draw()
    ticks = [[one.get_text() for one in ax.get_xticklabels()] for ax in display.axes_]
    assert ticks[0][0] == "0%"
    assert "%" not in ticks[1][0]
    (legend,) = (one.get_text() for one in display.axes_[0].get_legend().get_texts())
    assert "class: 50.0%" in legend
    plt.close(display.figure_)
    compared = compare_learners([CLF, "majority"], X, Y, null=0.125, alternative="less", rng=0).display()
    compared.percent = True
    (legend,) = (one.get_text() for one in compared.plot().ax_.get_legend().get_texts())
    assert legend == "margin 12.5%"
    plt.close(compared.figure_)


def test_the_command_draws_in_percent(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = ["--n-samples", "20,30", "--replicates", "10", "--resamples", "9", "--method", "langford-binomial"]
    for more in ((), ("--percent",)):
        result = invoke("plan", "--world", "gaussians", *few, "--seed", "1", "--plot", "p.svg", *more)
        assert result.exit_code == 0, result.stderr
        drawn = (tmp_path / "p.svg").read_text()
        assert ("<!-- target: 10% -->" in drawn) == bool(more)
        assert ("<!-- target: 0.1 -->" in drawn) == (not more)
