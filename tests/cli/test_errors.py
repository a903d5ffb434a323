"""Exit codes, and one clear line on stderr for everything that can be wrong with a command or its data."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_fakes import CLEAN, assert_error, interval

GROUPED = ["--methods", "k-fold-t", "--group"]


def test_not_certified_is_printed_and_exits_3(fake, patients):
    fake.certified = False
    fake.warnings = ("2 of 1000 draws were stopped", "another")
    result = interval("--seed", "1")
    assert result.exit_code == 3
    assert "conditional" in result.stdout
    assert result.stderr == ("cudbound: warning: 2 of 1000 draws were stopped\ncudbound: warning: another\n")


def test_warnings_alone_are_no_failure(fake, patients):
    fake.warnings = ("zero width",)
    result = interval("--seed", "1")
    assert result.exit_code == 0
    assert result.stderr == "cudbound: warning: zero width\n"


def test_interrupt_exits_130(fake, patients):
    fake.error = KeyboardInterrupt()
    result = interval("--seed", "1", "--output", "out.txt")
    assert result.exit_code == 130
    assert result.stdout == ""
    assert result.stderr.strip() == "cudbound: interrupted"
    assert not Path("out.txt").exists()


def test_too_little_memory_is_said_in_one_line(fake, patients):
    fake.error = MemoryError()
    assert_error(interval("--seed", "1"), 1, "not enough memory; use fewer resamples or splits")


def test_a_bug_is_not_disguised_as_bad_data(fake, patients):
    fake.error = ZeroDivisionError("bug")
    assert isinstance(interval("--seed", "1").exception, ZeroDivisionError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--confidence-level", "95"], "'--confidence-level': 95.0 is not in the range 0<x<1"),
        (["--confidence-level", "high"], "'high' is not a valid float"),
        (["--resamples", "many"], "'many' is not a valid integer"),
        (["--seed", "-1"], "-1 is not in the range x>=0"),
        (["--alpha", "0.05"], "No such option"),
        (["--time-limit", "nan"], "--time-limit must be non-negative or None. Got nan instead."),
        (["--node-limit", "-1"], "Invalid value for '--node-limit': -1 is not in the range x>=0"),
        (["--total-node-limit", "few"], "--total-node-limit must be a non-negative int"),
        (["--threshold", "nan"], "--threshold must be a finite number or None. Got nan instead."),
        (["--methods", "cud,martin"], "Got 'martin' instead. Did you mean 'martin-beta'?"),
        (["--methods", "mcnemar"], "'mcnemar' compares two classifiers; use compare_learners."),
        (["--metric", "pr-auc"], "it depends on the share of events among the cases at each threshold"),
        (["--size", "n_folds"], "'n_folds' is not of the form NAME=VALUE, such as n_folds=5"),
        (["--size", "n_fold=3"], "there is no size 'n_fold'; did you mean n_folds?"),
        (["--size", "K=3"], "there is no size 'K'; the sizes are n_folds, n_repeats, n_splits"),
        (["--size", "n_folds=2.5"], "The 'n_folds' parameter must be an integer of at least 2. Got 2.5 inst"),
        (["--size", "n_splits=5", "--size", "n_splits=6"], "'n_splits' is given twice"),
        (["--option", "form=wilson"], "'form=wilson' is not of the form METHOD.NAME=VALUE"),
        (
            ["--methods", "paper", "--option", "kohavi.form=wilson"],
            "'--option': 'kohavi' is not one of the requested methods. Did",
        ),
        (
            ["--methods", "paper", "--option", "kohavi-normal.forn=wilson"],
            "kohavi-normal has no option 'forn'. Its options are ['form']. Did you mean 'form'?",
        ),
        (
            ["--methods", "paper", "--option", "kohavi-normal.form=no"],
            "--option kohavi-normal.form must be one of",
        ),
        (["--alternative", "equivalent"], "'equivalent' is not one of 'two-sided', 'less', 'greater'"),
        (["--folds", "1"], "1 is not in the range x>=2"),
        (["--format", "docx"], "'docx' is not one of 'table', 'markdown', 'latex', 'html', 'csv', 'json'"),
        (["--unknown\x1b[2J"], "No such option"),
        (["second.csv"], "Got unexpected extra argument"),
    ],
)
def test_usage_errors(fake, patients, arguments, message):
    result = interval(*arguments)
    assert_error(result, 2, message)
    assert "See 'cudbound interval --help'." in result.stderr
    assert fake.calls == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--resamples", "0"], "--resamples must be"),
        (["--confidence-level", "nan"], "--confidence-level must be a float in the range (0, 1). Got nan"),
        (["--localization", "m"], "--localization must be"),
        (["--inner", "few"], "--inner must be 'oob' or an integer of at least 1. Got 'few' instead."),
        (["--jobs", "0"], "--jobs must be None or an integer other than 0. Got 0 instead."),
        (
            ["--prevalence", "0.1"],
            "--prevalence must be a number in (0, 1) or 'sample', only with the metrics",
        ),
        (["--metric", "ppv", "--prevalence", "2"], "--prevalence must be"),
        (["--joint"], "--joint must be False for a single metric"),
        (["--metric", "cost"], "--cost must be a cost for each class"),
        (
            ["--metric", "cost", "--cost", "yes=1"],
            "there must be one per value of the target: --cost no",
        ),
        (["--inner", "3", "--metric", "sensitivity"], "--inner must be"),
    ],
)
def test_what_the_package_refuses_is_named_by_its_option(patients, arguments, message):
    result = interval("--seed", "1", *arguments)
    assert_error(result, 2, message)
    assert "See 'cudbound interval --help'." in result.stderr


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, [], "no such file: 'patients.csv'"),
        (CLEAN.replace("41", "x\x1b[31m"), [], r"column 'age' ('x\x1b[31m' on line 3)"),
        (CLEAN.replace("bmi", "\x1b[31m").replace("22,", "y,"), [], r"column '\x1b[31m' ('y' on line 3)"),
        (CLEAN.replace("20,no", "20,maybe"), [], "must have two classes; it has 3 values"),
        (CLEAN, ["--exclude", "agee"], "--exclude: no column 'agee' in 'patients.csv'; did you mean 'age'?"),
        (CLEAN, [*GROUPED, "sex"], "column 'sex' is named in both --categorical and --group; choose one"),
    ],
)
def test_data_errors(fake, patients, content, arguments, message):
    if content is None:
        patients.unlink()
    else:
        patients.write_text(content)
    assert_error(interval(*arguments), 1, message)
    assert fake.calls == []
