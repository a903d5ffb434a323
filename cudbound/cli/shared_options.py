"""Options that several commands share, as decorators."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudbound.cli import option_values
from cudbound.cli.option_values import from_text
from cudbound.cli.result_output import FORMATS, PICTURES, ResultOutput, form_of, picture
from cudbound.inputs.csv_file import DataFile
from cudbound.inputs.missing_cells import CHOICES
from cudbound.inputs.named_classifiers import LEARNERS

if TYPE_CHECKING:
    from cudbound.intervals import Method

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

FILE = click.Path(path_type=Path)


def together(*decorators: Decorator) -> Decorator:
    """Return one decorator for several; the first of them comes first in the help."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def _with_data(required: bool) -> Decorator:
    def add(command: Command) -> Command:
        @functools.wraps(command)
        def with_data(*arguments: Any, **values: Any) -> Any:
            # not every command has an option for each of them
            known = [one.name for one in fields(DataFile) if one.name in values]
            data = DataFile(**{name: values.pop(name) for name in known})
            return command(*arguments, data=data, **values)

        return together(
            click.argument("file", metavar="FILE.csv", required=required, type=FILE),
            click.option(
                "--target",
                required=required,
                metavar="COL",
                help="Column of the class label; it must have two values.",
            ),
            click.option(
                "--positive",
                required=required,
                metavar="VALUE",
                help="Value of the target that is the event.",
            ),
            _COLUMN_OPTIONS,
        )(with_data)

    return add


_COLUMN_OPTIONS = together(
    click.option(
        "--features",
        multiple=True,
        metavar="COL,COL,...",
        help="Columns that are features; without it every column but the target, --group and --exclude.",
    ),
    click.option(
        "--categorical",
        multiple=True,
        metavar="auto|COL,COL,...",
        help="Columns whose k levels become k - 1 indicators, the first level in sorted order being the reference. "
        "auto stands for all columns of text; auto:5 also for integer columns of 3 to 5 different values.",
    ),
    click.option("--exclude", multiple=True, metavar="COL,COL,...", help="Columns that are not features."),
    click.option(
        "--missing",
        type=click.Choice(CHOICES),
        default=CHOICES[0],
        help="What to do about missing values: stop, drop the rows that have some, or fill them with the median or the "
        "most frequent value of the column, as a step of every fit. A category is always filled with the most frequent "
        "level.",
    ),
    click.option(
        "--delimiter",
        type=from_text(option_values.delimiter),
        default=",",
        metavar="CHAR",
        help="Character between the cells of the file: , ; | or tab.",
    ),
    click.option(
        "--group",
        metavar="COL",
        help="Column that says which rows belong together, such as those of one patient: bootstrap draws take whole "
        "groups, and no fold takes them apart.",
    ),
)

#: Add FILE.csv and the options that say what its columns are; the command gets them as ``data``, a DataFile.
data_options = _with_data(required=True)
#: The same for a command that may do without the file.
optional_data_options = _with_data(required=False)

confidence_level_option = click.option(
    "--confidence-level",
    type=from_text(option_values.level),
    default="0.95",
    metavar="FLOAT",
    help="Nominal level, in (0, 1).",
)

seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="INT",
    help="Seed of the resampling. Without it one is chosen, and printed so that the run can be repeated.",
)

jobs_option = click.option(
    "--jobs", "n_jobs", type=int, default=1, metavar="INT", help="Workers; -1 for all processors."
)

#: Where a classifier may come from a file.
model_options = together(
    click.option(
        "--model",
        "model_file",
        type=FILE,
        metavar="FILE.skops",
        help="Fitted scikit-learn classifier to use instead of fitting one, saved by skops.io.dump; FILE.csv must "
        "hold the rows that it was fitted to.",
    ),
    click.option(
        "--trust",
        multiple=True,
        metavar="TYPE",
        help="Type in the file of --model that is loaded although it is not known to be harmless, by its full name, "
        "such as sklearn.tree._tree.Tree. Only for files whose origin you know. May be repeated.",
    ),
)


def learner_option(flag: str, help: str, default: str | None = None) -> Decorator:
    """Add an option that names a classifier of any kind."""
    return click.option(flag, type=click.Choice(tuple(LEARNERS)), default=default, metavar="NAME", help=help)


def set_option(
    flag: str,
    name: str,
    classifier: str,
    how: str = ", by its name in scikit-learn, such as C=0.5; the value is a number, true, false, none or a word",
) -> Decorator:
    """Add the option `flag` that sets parameters of a classifier; the command gets the texts as `name`."""
    help = f"Option of the {classifier}{how}. May be repeated."
    return click.option(flag, name, multiple=True, metavar="NAME=VALUE", help=help)


#: Options of single methods, and numbers of folds, splits and repetitions.
method_options = together(
    click.option(
        "--option",
        "assigned",
        multiple=True,
        metavar="METHOD.NAME=VALUE",
        help="Option of one method, such as bayle-cv.variance=within-fold; 'cudbound methods --gives interval' lists "
        "them. May be repeated.",
    ),
    click.option(
        "--size",
        "sizes",
        multiple=True,
        callback=option_values.sizes,
        metavar="NAME=VALUE",
        help="Number of folds, splits or repetitions, such as n_splits=30; NAME is n_folds, n_repeats, n_splits, "
        "test_fraction, n_halvings, n_replicates, n_nested_repeats or holdout_fraction; or aci_rate, which is log, "
        "loglog or a number. May be repeated.",
    ),
)
#: What is drawn and how: the parts of the methods that can be chosen.
resampling_options = together(
    method_options,
    click.option(
        "--folds",
        type=click.IntRange(min=2),
        metavar="INT",
        help="One stratified partition into this many folds, or into folds of whole groups, for all methods that read "
        "folds or splits.",
    ),
)


def options_of_methods(assigned: Iterable[str], methods: Sequence[Method]) -> dict[str, dict[str, Any]]:
    """Return the options of single methods by the names of the methods, from texts ``METHOD.NAME=VALUE``.

    Raises
    ------
    click.BadParameter
        If one is malformed, given twice, for a method that is not asked for, unknown or not allowed.
    """
    from cudbound.basis.method_card import Choice, check_options

    known = {f"{one.name}.{name}": option for one in methods for name, option in one.options.items()}
    form = "METHOD.NAME=VALUE, such as kohavi-normal.form=wilson"
    found: dict[str, dict[str, Any]] = {}
    try:
        for whole, text in option_values.split_assignments(assigned, form).items():
            method, _, name = whole.partition(".")
            if not name:
                raise ValueError(f"'{whole}={text}' is not of the form {form}.")
            is_word = isinstance(known.get(whole), Choice)
            found.setdefault(method, {})[name] = text if is_word else option_values.parse_value(text)
        check_options(found, methods)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--option'") from error
    return found


_FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    show_default="by the name of the file, or table",
    help="Form of the output.",
)


def _output_option(pictures: str = "") -> Decorator:
    return click.option(
        "--output",
        "path",
        type=from_text(option_values.output),
        metavar="PATH",
        help="File to write instead of stdout, which is also -. It is replaced whole, at the end. Its extension "
        f"decides the form: .md, .tex, .html, .csv, .json{pictures}, or .txt for any text.",
    )


def output_options(command: Command) -> Command:
    """Add --format and --output; the command gets ``form`` and ``path``, which fit each other."""

    @functools.wraps(command)
    def with_form(*arguments: Any, form: str | None, path: Path | None, **values: Any) -> Any:
        return command(*arguments, form=form_of(form, path), path=path, **values)

    return together(_FORMAT, _output_option())(with_form)


def result_options(command: Command) -> Command:
    """Add what is written of a result, and how; the command gets ``output``, a `ResultOutput`."""

    @functools.wraps(command)
    def with_output(
        *arguments: Any,
        form: str | None,
        path: Path | None,
        plot: Path | None,
        describe: bool,
        layout: str,
        digits: int | None,
        percent: bool,
        caption: str | None,
        label: str | None,
        **values: Any,
    ) -> Any:
        from cudbound.report.table_style import Style

        chosen = form_of(form, path, (*FORMATS, *PICTURES))
        style = Style(layout, digits, percent, caption, label)
        output = ResultOutput(chosen, path, plot, describe, style)
        return command(*arguments, output=output, **values)

    return _RESULT_OPTIONS(with_output)


_RESULT_OPTIONS = together(
    _FORMAT,
    _output_option(", .svg, .png or .pdf for a picture"),
    click.option(
        "--plot",
        type=from_text(picture),
        metavar="PATH",
        help="Also draw the table, into a file that ends in .svg, .png or .pdf.",
    ),
    click.option(
        "--describe",
        is_flag=True,
        help="Also print words for a paper to stdout: methods, results, versions, seed, and references in BibTeX.",
    ),
    click.option(
        "--style",
        "layout",
        type=click.Choice(("full", "paper")),
        default="full",
        help="paper for one row 'title, 0.16 (0.01 to 0.31)' for each method.",
    ),
    click.option(
        "--digits",
        type=click.IntRange(0, 10),
        metavar="INT",
        show_default="3, or 2 on paper; in percent 1, or 0 on paper",
        help="Decimals of proportions.",
    ),
    click.option("--percent", is_flag=True, help="Write proportions in percent."),
    click.option("--caption", metavar="TEXT", help="Caption in place of the title."),
    click.option(
        "--label",
        metavar="NAME",
        help="Name of the table for references to it in LaTeX, such as tab:error.",
    ),
)
