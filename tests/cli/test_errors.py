"""Exit codes, and one clear line on stderr for everything that can be wrong with a command or its data."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from cli_fakes import CLEAN, assert_error, interval, invoke

from cudbound.cli import main

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
    assert_error(interval("--seed", "1"), 1, "not enough memory for 1000 resamples of 5 rows; use fewer")


def test_a_bug_is_not_disguised_as_bad_data(fake, patients):
    fake.error = ZeroDivisionError("bug")
    assert isinstance(interval("--seed", "1").exception, ZeroDivisionError)


def test_errors_of_click_itself_keep_their_code(fake, patients):
    fake.error = click.ClickException("something\nelse")
    assert_error(interval("--seed", "1"), 1, "something else")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--confidence-level", "1"], "'1' is not a number strictly between 0 and 1 (95% is 0.95)"),
        (["--confidence-level", "0"], "strictly between 0 and 1"),
        (["--confidence-level", "95"], "strictly between 0 and 1"),
        (["--confidence-level", "nan"], "strictly between 0 and 1"),
        (["--confidence-level", "high"], "strictly between 0 and 1"),
        (["--resamples", "0"], "0 is not in the range 1<=x<=1000000"),
        (["--resamples", "many"], "'many' is not a valid integer"),
        (["--seed", "-1"], "-1 is not in the range x>=0"),
        (
            ["--alpha", "0.05"],
            "There is no option --alpha: the level of the intervals is --confidence-level, such as 0.95; the rate "
            "alpha_n of the CUD bound is --localization. See 'cudbound interval --help'.",
        ),
        (["--localization", "m"], "'m' is neither n nor paper-literal nor a number in [0, inf]"),
        (["--localization", "-1"], "'-1' is neither"),
        (["--localization", "nan"], "'nan' is neither"),
        (["--methods", "cud,martin"], "there is no method 'martin'; did you mean martin-beta?"),
        (
            ["--methods", "cud,,martin-beta"],
            "there is no method ''; 'cudbound methods --gives interval' lists",
        ),
        (["--methods", "cud,paper"], "'paper' stands for several methods; give it alone"),
        (["--methods", "conditionall"], "there is no method 'conditionall'; did you mean conditional?"),
        (
            ["--methods", "mcnemar"],
            "'mcnemar' compares two classifiers; it is for 'cudbound compare-learners'",
        ),
        (
            ["--methods", "bootstrap-632"],
            "'bootstrap-632' is a point estimate, which cudbound.estimate_error",
        ),
        (["--size", "n_folds"], "'n_folds' is not of the form NAME=VALUE, such as n_folds=5"),
        (["--size", "n_fold=3"], "there is no size 'n_fold'; did you mean n_folds?"),
        (["--size", "K=3"], "there is no size 'K'; the sizes are n_folds, n_repeats, n_splits"),
        (["--size", "n_folds=1"], "The 'n_folds' parameter must be an integer of at least 2. Got 1 instead"),
        (
            ["--size", "n_folds=2.5"],
            "The 'n_folds' parameter must be an integer of at least 2. Got 2.5 instead",
        ),
        (["--size", "n_splits=5", "--size", "n_splits=6"], "'n_splits' is given twice"),
        (["--option", "form=wilson"], "'form=wilson' is not of the form METHOD.NAME=VALUE"),
        (["--option", "kohavi-normal.form"], "'kohavi-normal.form' is not of the form METHOD.NAME=VALUE"),
        (
            ["--methods", "paper", "--option", "kohavi.form=wilson"],
            "there is no method 'kohavi'; did you mean kohavi-normal?",
        ),
        (["--option", "x.form=wilson"], "there is no method 'x'; 'cudbound methods' lists the names"),
        (
            ["--option", "bayle-cv.variance=within-fold"],
            "bayle-cv is not among the methods asked for; add it to",
        ),
        (
            ["--methods", "paper", "--option", "kohavi-normal.forn=wilson"],
            "kohavi-normal has no option 'forn'; did you mean form?",
        ),
        (
            ["--methods", "paper", "--option", "kohavi-normal.x=1"],
            "kohavi-normal has no option 'x'; its options are form.",
        ),
        (["--option", "cud.x=1"], "cud has no option 'x'; it has none."),
        (
            ["--methods", "paper", "--option", "kohavi-normal.form=no"],
            "The 'kohavi-normal.form' parameter must be one of",
        ),
        (
            ["--methods", "grandvalet-bengio-t", "--option", "grandvalet-bengio-t.rho=high"],
            "The 'grandvalet-bengio-t.rho' parameter must be",
        ),
        (["--option", "two-center.cap=maybe"], "The 'two-center.cap' parameter must be"),
        (["--option", "two-center.tails=long"], "The 'two-center.tails' parameter must be one of"),
        (["--alternative", "equivalent"], "'equivalent' is not one of 'two-sided', 'less', 'greater'"),
        (
            ["--methods", "tuned"],
            "--methods: bbc-cv needs a fitted GridSearchCV or RandomizedSearchCV, saved with skops: name",
        ),
        (["--folds", "1"], "1 is not in the range x>=2"),
        (
            ["--folds", "5", "--methods", "cud,nested-cv"],
            "--folds: none of the methods asked for reads folds or",
        ),
        (
            ["--group", "age", "--methods", "cud,aci,nested-cv"],
            "--group: aci, nested-cv would take the rows of a group apart; name other methods. The column",
        ),
        (
            ["--group", "age", "--methods", "k-fold-t,test-set-wald"],
            "--group: test-set-wald would take the rows",
        ),
        (["--inner", "0"], "'0' is neither a positive number nor oob"),
        (["--inner", "few"], "'few' is neither a positive number nor oob"),
        (["--delimiter", "x"], "'x' is not one of: , ; | tab."),
        (["--jobs", "0"], "0 is neither a positive number nor -1"),
        (["--jobs", "-2"], "-2 is neither a positive number nor -1"),
        (["--node-limit", "0"], "0 is not in the range x>=1"),
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
        (["interval"], "Missing argument 'FILE.csv'"),
        (["interval", "patients.csv", "--positive", "1"], "Missing option '--target'"),
        (["interval", "patients.csv", "--target", "died"], "Missing option '--positive'"),
        (["intervall"], "No such command 'intervall'"),
        (["demo", "--seed", "1"], "No such option"),
    ],
)
def test_incomplete_commands(arguments, message):
    assert_error(invoke(*arguments), 2, message)


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, [], "no such file: 'patients.csv'"),
        ("", [], "'patients.csv' is empty"),
        ("age,sex,died\n", [], "a header line and nothing below it"),
        ("\x00\x01", [], "it holds null characters"),
        (CLEAN.replace(",", ";"), [], "add --delimiter ';'"),
        (CLEAN.replace("bmi", "age"), [], "more than one column is called 'age'"),
        (CLEAN.replace("41,f,22", "41,f"), [], "line 3 has 3 cells, the header has 4"),
        (
            CLEAN.replace("41", "").replace("22", "NA"),
            [],
            "2 missing value(s) in 'patients.csv': 'age' 1, 'bmi' 1; --missing drop leaves",
        ),
        (CLEAN.replace("41", "x\x1b[31m"), [], r"column 'age' ('x\x1b[31m' on line 3)"),
        (CLEAN.replace("41", "inf"), [], "infinite or beyond 1e+100: column 'age' ('inf' on line 3)"),
        (CLEAN.replace("bmi", "\x1b[31m").replace("22,", "y,"), [], r"column '\x1b[31m' ('y' on line 3)"),
        (CLEAN.replace("yes", "no"), [], "must have two classes; it has one value: 'no' (5 rows)"),
        (CLEAN.replace("20,no", "20,maybe"), [], "must have two classes; it has 3 values"),
        (
            CLEAN.replace("21.5,yes", "21.5,no"),
            [],
            "needs at least two rows; found 'no' (4 rows), 'yes' (1 row)",
        ),
        (CLEAN, ["--exclude", "agee"], "--exclude: no column 'agee' in 'patients.csv'; did you mean 'age'?"),
        (CLEAN, ["--exclude", "died"], "this column is the target"),
        (CLEAN, ["--exclude", "sex"], "named by --categorical and by --exclude"),
        (CLEAN, [*GROUPED, "ages"], "--group: no column 'ages' in 'patients.csv'; did you mean 'age'?"),
        (CLEAN, [*GROUPED, "died"], "--group 'died': this column is the target"),
        (CLEAN, [*GROUPED, "sex"], "column 'sex' is named by --categorical and by --group; choose one"),
        (
            CLEAN.replace("41,f", ",f"),
            [*GROUPED, "age"],
            "1 missing value(s) in 'patients.csv': 'age' 1;",
        ),
        (
            "site" + CLEAN.replace("\n", "\nA,")[:-2].replace("age", ",age", 1),
            [*GROUPED, "site"],
            "--group: column 'site' has the same value on every row",
        ),
    ],
)
def test_data_errors(fake, patients, content, arguments, message):
    if content is None:
        patients.unlink()
    else:
        patients.write_text(content)
    assert_error(interval(*arguments), 1, message)
    assert fake.calls == []


def test_errors_of_target_and_positive(fake, patients):
    assert_error(
        interval(target="dies"), 1, "--target: no column 'dies' in 'patients.csv'; did you mean 'died'?"
    )
    assert_error(
        interval(positive="y"), 1, "--positive 'y' is not a value of 'died'; found 'yes' (2 rows), 'no'"
    )
    without = invoke("interval", "patients.csv", "--target", "died", "--positive", "yes")
    assert_error(without, 1, "not numeric: column 'sex' ('m' on line 2); add --categorical COL")


def test_no_command_prints_the_help_and_exits_2():
    result = invoke()
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Usage: cudbound [OPTIONS] ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        *([command, "--help"] for command in ("interval", "compare-learners", "methods", "demo", "verify")),
    ],
)
def test_every_help_lists_the_exit_codes(arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0
    assert result.stderr == ""
    codes = [line.split()[0] for line in result.stdout.split("Exit codes:")[1].splitlines() if line.strip()]
    assert [code for code in codes if code.isdigit()] == ["0", "1", "2", "3", "4", "130"]
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


def test_click_can_embed_the_group_without_leaving_the_interpreter():
    with pytest.raises(click.UsageError, match="No such command"):
        main.main(["intervall"], standalone_mode=False)
