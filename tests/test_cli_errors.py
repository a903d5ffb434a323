"""Exit codes, and one clear line on stderr for everything that can be wrong with a command or its data."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from cli_fakes import CLEAN, assert_error, interval, invoke

from cudbound.cli import main


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
        (["--resamples", "0"], "0 is not in the range x>=1"),
        (["--resamples", "many"], "'many' is not a valid integer"),
        (["--seed", "-1"], "-1 is not in the range x>=0"),
        (["--alpha", "m"], "'m' is neither n nor paper-literal nor a number in [0, inf]"),
        (["--alpha", "-1"], "'-1' is neither"),
        (["--alpha", "nan"], "'nan' is neither"),
        (["--methods", "cud,martin"], "there is no method 'martin'; did you mean martin-beta?"),
        (["--methods", "cud,,martin-beta"], "there is no method ''; the names are cud, bootstrap-percentile"),
        (["--methods", "cud,paper"], "there is no method 'paper'; the names are cud,"),
        (["--inner", "0"], "'0' is neither a positive number nor oob"),
        (["--inner", "few"], "'few' is neither a positive number nor oob"),
        (["--delimiter", "x"], "'x' is not one of: , ; | tab."),
        (["--jobs", "0"], "0 is neither a positive number nor -1"),
        (["--jobs", "-2"], "-2 is neither a positive number nor -1"),
        (["--node-limit", "0"], "0 is not in the range x>=1"),
        (["--format", "html"], "'html' is not one of 'table', 'markdown', 'latex', 'csv', 'json'"),
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
        (CLEAN.replace("41", "").replace("22", "NA"), [], "column 'age' line 3, column 'bmi' line 3"),
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
    assert "Usage: cudbound [OPTIONS] [COMMAND]" in result.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["interval", "--help"], ["demo", "--help"]])
def test_every_help_lists_the_exit_codes(arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0
    assert result.stderr == ""
    codes = [line.split()[0] for line in result.stdout.split("Exit codes:")[1].splitlines() if line.strip()]
    assert [code for code in codes if code.isdigit()] == ["0", "1", "2", "3", "130"]
    assert all(len(line) <= 80 for line in result.stdout.splitlines())


def test_click_can_embed_the_group_without_leaving_the_interpreter():
    with pytest.raises(click.UsageError, match="No such command"):
        main.main(["intervall"], standalone_mode=False)
