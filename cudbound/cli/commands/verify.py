"""The command ``cudbound verify``: a saved result checked on the data again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cudbound.cli.inputs import common_options
from cudbound.cli.inputs.fitted import fit
from cudbound.cli.inputs.model_file import load_model
from cudbound.cli.inputs.sample import make_cv, read_sample
from cudbound.cli.inputs.saved_command import data_file, recipe_of
from cudbound.cli.output import destination as output
from cudbound.cli.output.advice import INTERVAL_OPTIONS, collected_warnings
from cudbound.cli.output.exit_codes import DISAGREES, EXIT_CODES
from cudbound.inputs.csv_file import quoted

if TYPE_CHECKING:
    from cudbound.audit.saved_result import SavedCommand
    from cudbound.cli.inputs.model_file import SavedModel
    from cudbound.inputs.classifier_recipe import ClassifierRecipe


@click.command("verify", epilog=EXIT_CODES)
@click.argument("saved_file", metavar="RESULT.json", type=click.Path(path_type=Path))
@click.argument("data_path", metavar="FILE.csv", type=click.Path(path_type=Path))
@click.option(
    "--model",
    "model_file",
    type=click.Path(path_type=Path),
    metavar="FILE.skops",
    help="The file of the classifier, where 'cudbound interval' took it from one.",
)
@click.option(
    "--trust",
    multiple=True,
    metavar="TYPE",
    help="Type in the file of --model that is loaded although it is not known to be harmless, as for 'cudbound "
    "interval'. May be repeated.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="INT",
    show_default="all draws",
    help="Solve only so many of the draws again, chosen at random; what witnesses are worth is computed for all.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    metavar="INT",
    help="Seed of --sample; that of the result is in its file.",
)
@common_options.jobs_option
@common_options.output_options
def verify(
    saved_file: Path,
    data_path: Path,
    model_file: Path | None,
    trust: tuple[str, ...],
    sample: int | None,
    seed: int,
    n_jobs: int,
    form: str,
    place: Path | None,
) -> None:
    """Check RESULT.json, which 'cudbound interval --save' wrote, on the data FILE.csv that it is of.

    The file says how the data are to be read and which classifier is to be fitted. The fingerprint of the data is
    compared first; then the draws, their bounds, the limits, and the rows of the table. The exit code is 4 if anything
    does not agree.
    """
    from cudbound.report.render import render_report
    from cudbound.tables.verify_result import read_saved, verify_saved

    if trust and model_file is None:
        raise click.UsageError("--trust is about the types in a file; name the file with --model.")
    output.check_output(place, {"result": saved_file, "data": data_path, "model": model_file})
    try:
        saved, intact = read_saved(saved_file)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ValueError(f"cannot read {quoted(str(saved_file), 200)}: {reason}") from error
    command = saved.command
    if command is None:
        raise ValueError(
            "the saved result comes from Python and does not say how a file is to be read: check it by "
            "cudbound.verify_result in Python"
        )
    with collected_warnings("some of the fits", INTERVAL_OPTIONS):  # the result was printed with them
        classifier = _classifier(command, model_file, trust)
        data = read_sample(data_file(command, data_path))
        fitted = fit(classifier, data, saved.settings.seed or 0)
        cv, groups = make_cv(data, command.folds)
        verification = verify_saved(
            saved,
            intact,
            fitted.estimator,
            fitted.X,
            fitted.y,
            groups=groups,
            sample_weight=data.weights,
            given={"cv": cv},
            sample=sample,
            rng=seed,
            n_jobs=n_jobs,
        )
    output.emit(render_report(verification.report(), form), place)
    if not verification.passed:
        sys.exit(DISAGREES)


def _classifier(
    command: SavedCommand, model_file: Path | None, trust: tuple[str, ...]
) -> ClassifierRecipe | SavedModel:
    """Return what the command fitted, or what it read from a file, which has to be named again."""
    recipe = recipe_of(command)
    if recipe is None and model_file is None:
        raise ValueError(
            "the classifier of the saved result came from a file: name it with --model FILE.skops"
        )
    if recipe is not None and model_file is not None:
        raise ValueError(
            "--model: the classifier of the saved result was fitted by the command; leave the option out"
        )
    if model_file is not None:
        return load_model(model_file, trust)
    assert recipe is not None, "one of the two is there"
    return recipe
