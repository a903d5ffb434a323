"""The commands ``cudbound study``: write a design file, run, merge, status, report."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cudbound.basis.exceptions import StudyInterrupted
from cudbound.basis.words import printable
from cudbound.cli.command import EXIT_CODES, INTERRUPTED, OneLineCommand, say
from cudbound.cli.options import FILE, OUTPUT, jobs_option
from cudbound.cli.output import check_paths, write_whole

if TYPE_CHECKING:
    from cudbound.study.replicate import Shard

#: Missing replicates of a cell that are listed.
MAX_NUMBERS = 20

STORE = click.Path(dir_okay=False, path_type=Path)
store_argument = click.argument("store", metavar="STORE", type=STORE)


def _shard(text: str) -> Shard:
    from cudbound.study.replicate import read_shard

    try:
        return read_shard(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.group("study", epilog=EXIT_CODES)
def study() -> None:
    """Measure how often intervals contain the true value, over many training sets."""


study_command = partial(study.command, cls=OneLineCommand, epilog=EXIT_CODES)


@study_command("new")
@click.argument("template")
@click.option("--output", "path", required=True, type=OUTPUT, help="New design file to write.")
def new(*, template: str, path: Path) -> None:
    """Write the design file TEMPLATE, with comments, as a starting point for your own.

    TEMPLATE is quick, paper2008, where-intervals-break, logistic-regression,
    decision-trees, random-forests, tuned-ridge, sensitivity-specificity,
    clinical, grouped-rows, two-center-auc, ratios-and-net-benefit,
    several-classes, other-intervals, nadeau-bengio, grandvalet-bengio,
    grandvalet-bengio-large, laber-murphy-2011, schulz-kuempel,
    schulz-kuempel-nested, schulz-kuempel-brier, schulz-kuempel-forests,
    bates, bates-high-dimensional, intervals-of-others,
    tuned-classifiers-of-others or tuned-classifiers-of-others-slow.
    """
    from cudbound.study.design_file import template_text

    text = template_text(template)
    check_paths([path])
    if path.exists():
        raise ValueError(f"--output: {str(path)!r} already exists; choose another name")
    write_whole({path: text})


@study_command("run")
@click.argument("design", metavar="DESIGN.toml", type=FILE)
@click.option(
    "--store",
    required=True,
    type=STORE,
    metavar="STORE",
    help="SQLite file for the results; if it exists, the study resumes from it.",
)
@jobs_option
@click.option(
    "--dask", metavar="ADDRESS", help="Run on a Dask cluster, such as tcp://host:8786, instead of --jobs."
)
@click.option(
    "--data-folder",
    type=FILE,
    metavar="DIR",
    help="Folder of the real data sets in the design, with its MANIFEST.json; by default that of the environment "
    "variable CUDBOUND_DATA.",
)
@click.option(
    "--replicates",
    type=click.IntRange(min=1),
    metavar="R",
    help="Number of training sets per scenario and size, instead of the number in the design.",
)
@click.option(
    "--shard",
    type=_shard,
    metavar="I/N",
    help="Run the I-th of N parts; each has every N-th replicate of each scenario and size. Use a separate store for "
    "each part; 'cudbound study merge' joins them.",
)
@click.option(
    "--limit-minutes",
    type=click.FloatRange(min=0),
    metavar="M",
    help="Hand out no more work after this many minutes; the same command resumes the study.",
)
def run(
    *,
    design: Path,
    store: Path,
    n_jobs: int,
    dask: str | None,
    data_folder: Path | None,
    replicates: int | None,
    shard: Shard | None,
    limit_minutes: float | None,
) -> None:
    """Run the study in DESIGN.toml, and keep its results in a store.

    A stopped run resumes when it is started again. Results depend on the design, not on the number of workers.
    """
    from cudbound.study.design_file import read_design
    from cudbound.study.runner import run_study

    planned = read_design(design, data_folder=data_folder, n_replicates=replicates)
    try:
        progress = run_study(
            planned, store, n_jobs=n_jobs, dask=dask, shard=shard, limit_minutes=limit_minutes
        )
    except StudyInterrupted as stopped:  # says what is stored, and how to continue
        say(str(stopped))
        sys.exit(INTERRUPTED)
    click.echo(progress)


@study_command("merge")
@click.argument("parts", metavar="PART...", nargs=-1, required=True, type=FILE)
@click.option(
    "--store",
    required=True,
    type=STORE,
    metavar="STORE",
    help="SQLite file to write; an existing file counts as a further part, and is replaced after the merge.",
)
def merge(*, parts: tuple[Path, ...], store: Path) -> None:
    """Merge the stores of one study, such as those of its shards, into one.

    The result does not depend on the order of the parts. Replicates in several parts are kept once. It is an error if
    they differ between parts, or if a part belongs to another study.
    """
    from cudbound.study.store import merge_stores

    click.echo(merge_stores(parts, store))


@study_command("status")
@store_argument
@click.option(
    "--missing",
    is_flag=True,
    help="Print instead what to run again: the missing replicates and, if the last run was of a shard, the numbers of "
    "the shards that contain them.",
)
def status(*, store: Path, missing: bool) -> None:
    """Show how many replicates of STORE are done and how many failed, and whether a run is writing to it."""
    from cudbound.study.store import Store

    with Store.open(store) as opened:
        if not missing:
            click.echo(opened.status())
            return
        numbers_of, shard = opened.missing(), opened.shard
    for (scenario, n), numbers in numbers_of.items():
        shown = ", ".join(map(str, numbers[:MAX_NUMBERS])) + (", ..." if len(numbers) > MAX_NUMBERS else "")
        click.echo(printable(f"{scenario}, n = {n}: {len(numbers)} missing: {shown}"))  # names of others
    if not numbers_of:
        say("no replicate is missing")
    elif shard is not None:
        _, n_shards = shard
        shards = sorted({number % n_shards + 1 for numbers in numbers_of.values() for number in numbers})
        click.echo(f"shards of {n_shards} to run again: {','.join(map(str, shards))}")


@study_command("report")
@store_argument
@click.option("--output", "path", required=True, type=OUTPUT, help="File to write.")
def report(*, store: Path, path: Path) -> None:
    """Write a report on STORE: coverage, misses and widths, with their Monte Carlo standard errors.

    The extension determines the format: .html for a page that needs no network, .csv for the table of cells, unrounded.
    """
    from cudbound.study.study_report import report_text

    form = path.suffix.lower().removeprefix(".")
    if form not in ("html", "csv"):
        raise click.BadParameter(
            "it must be a file name that ends in .html or .csv.", param_hint="'--output'"
        )
    check_paths([path], [store])
    write_whole({path: report_text(store, form)})
