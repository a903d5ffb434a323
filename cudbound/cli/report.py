"""The command ``cudbound report``: an HTML report on a classifier, for the supplement of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cudbound.cli import input_options, options
from cudbound.cli.command import command, finish, in_words_of_the_command, typed_command
from cudbound.cli.fitted import SavedModel, fit, in_form_of_fit, new_cases_of, with_notes
from cudbound.cli.output import check_paths, write_whole
from cudbound.cli.verify import save_option, saved_text
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.data_file import DataFile
from cudbound.plotting.display import import_matplotlib
from cudbound.report.files import templates
from cudbound.report.tables import SINGLE


@command("report")
@input_options.data_options(input_options.weight_option)
@input_options.classifier_of_file
@input_options.new_cases_option
@options.confidence_level_option
@options.resamples_option
@options.seed_option
@options.jobs_option
@click.option(
    "--output",
    "path",
    required=True,
    type=options.OUTPUT,
    metavar="PATH.html",
    help="Page to write; its numbers are written to the same name with .json.",
)
@save_option
def report(
    *,
    data: DataFile,
    classifier: ClassifierRecipe | SavedModel,
    new_cases: Path | None,
    seed: int,
    path: Path,
    save: Path | None,
    **further: Any,
) -> None:
    """Write an HTML report on a classifier trained on FILE.csv, for the supplement of a paper.

    As far as the classifier and the data allow, the page has the cases by outcome and the coefficients; the error,
    sensitivity, specificity, predictive values, AUC and Brier score, apparent and corrected, with intervals; the
    calibration; the coverage of intervals in studies; instability and limitations; the items of TRIPOD+AI, paragraphs
    to paste, and the command to repeat it. It contains no row of the data.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise click.BadParameter("it must be a file name that ends in .html.", param_hint="'--output'")
    numbers = path.with_suffix(".json")
    read = [data.file, new_cases, getattr(classifier, "path", None)]
    check_paths([path, numbers, save], read)
    import_matplotlib()  # what is missing is told before any time is spent
    templates()
    data, sample = input_options.read_sample(data, classifier)
    fitted = fit(classifier, sample, seed)

    from cudbound.clinical.clinical_report import make_report

    with in_words_of_the_command("some of the refits", fitted.fitted_here) as collected:
        collected.messages += fitted.warnings
        collected.n_copies = sample.n_copies
        page = make_report(
            fitted.estimator,
            fitted.X,
            fitted.y,
            event=fitted.labels[1],
            groups=sample.groups,
            sample_weight=sample.weights,
            new_cases=None if new_cases is None else new_cases_of(fitted, data, new_cases),
            rng=seed,
            in_words=lambda table: with_notes(table, {SINGLE: fitted}),
            as_read=(sample.columns, lambda rows: in_form_of_fit(fitted, sample.coded(rows))),
            n_left_out=sample.n_left_out,
            worded=collected.worded,
            checks=(*sample.warnings, *fitted.warnings),
            command=f"{typed_command()} --seed {seed} --output report.html",
            **further,
        )
        texts: dict[Path, str | bytes] = {path: page.to_html(), numbers: page.to_json()}
    if save is not None:
        texts[save] = saved_text(page.table, data, sample, classifier)
    write_whole(texts)
    finish(collected)
