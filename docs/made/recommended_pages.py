"""The tables of the registered confirmation, from its files in docs/evidence/recommended.

``cells.csv`` has one row per metric, cell, method and way of refitting, ``misses.csv`` the cells that were repeated
with another seed, and ``variants.csv`` forms that were not used, computed from the same sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from tabulate import tabulate

FOLDER = Path(__file__).parents[2] / "docs" / "evidence" / "recommended"
RULE, BEFORE = "two-center", "two-center before"
SPLITTING = "splits inside"
#: The metrics as they are named, and in which table their cells stand.
METRICS = {"error": "error", "auc": "AUC", "brier": "Brier score"}
CLINICAL = "clinical metrics"
CLASSES = "several classes"
#: Aims: the largest mean width over that of an interval from n new cases, and the lowest confirmed coverage.
WIDTHS = {"error": 1.12, "auc": 1.18, "brier": 1.12}
WIDTH_OVERFIT = 1.20
LOWEST = 0.93
NO_MISS = "no miss"
#: How learners that split their rows are refitted: with copies of rows or not.
WAYS = {"without copies": False, "with copies": True}
CELL = ["metric", "cell", "copies"]
REPEATED = ["sets", "coverage", "mcse", "keeps_level", "coverage_before", "width_before"]
NOT_YET = "The misses have not been run again yet."


def read(name: str = "cells.csv") -> pd.DataFrame:
    return pd.read_csv(FOLDER / name)


def run_again() -> bool:
    """Whether the misses have been run again."""
    return (FOLDER / "misses.csv").exists()


def repeated(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells in which the recommended interval missed its level, with the numbers of their repetition.

    A cell is run again for all of its metrics; those without a miss are left out.
    """
    missed = as_used(cells).query("method == @RULE and not keeps_level")
    again = (
        read("misses.csv")
        if run_again()
        else pd.DataFrame(columns=[*CELL, *REPEATED]).astype({"copies": bool})
    )
    # a cell that was not run again stays, without new numbers
    both_runs = missed.merge(again, on=CELL, how="left", suffixes=("", "_again"))
    return both_runs.sort_values(["coverage_again", "coverage"])


def as_used(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells in the form of the package: learners that split their rows are refitted without copies of them."""
    return cells[cells["copies"] != (cells["kind"] == SPLITTING)]


def table(rows: list[dict[str, str]]) -> str:
    return tabulate(rows, headers="keys", tablefmt="pipe", disable_numparse=True)


def group_of(cells: pd.DataFrame) -> pd.Series:
    """What a line of the short tables is about: a metric, several classes, or the clinical metrics together."""
    groups = cells["metric"].map(METRICS).fillna(CLINICAL)
    return groups.mask(cells["kind"] == CLASSES, "error, several classes")


def of_groups(cells: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    groups = group_of(cells)
    names = [*METRICS.values(), "error, several classes", CLINICAL]
    return [(name, cells[groups == name]) for name in names if (groups == name).any()]


def progress(cells: pd.DataFrame) -> str:
    """How many of the registered sets have run, in all and at least per cell."""
    of_cells = cells.groupby("cell")[["sets", "registered_sets"]].max()
    run, registered = (int(number) for number in of_cells.sum())
    if run >= registered:
        return f"All {registered:,} registered sets have run."
    share = (of_cells["sets"] / of_cells["registered_sets"]).min()
    return (
        f"**The run was stopped early, as its registration allows: {run:,} of {registered:,} registered sets have "
        f"run**, at least {share:.0%} of those of every cell. Cells with few sets have large standard errors."
    )


def in_short(cells: pd.DataFrame) -> str:
    """One line per metric, for the recommended interval."""
    rows = []
    again = dict(of_groups(repeated(cells)))
    for name, some in of_groups(as_used(cells).query("method == @RULE")):
        worst = some.loc[some["coverage"].idxmin()]
        rows.append(
            {
                "metric": name,
                "cells": str(len(some)),
                "reached 95%": str(int(some["keeps_level"].sum())),
                "lowest coverage": f"{worst['coverage']:.3f}: {worst['cell']}, n = {worst['n']}, {worst['sets']} sets",
                "lowest in new sets": _lowest_again(again[name]) if name in again else "",
                "width / from n new cases": ratio(some["width_over_new"].mean()),
            }
        )
    return table(rows)


def _lowest_again(repetitions: pd.DataFrame) -> str:
    lowest = repetitions["coverage_again"].min()
    return "not run" if pd.isna(lowest) else f"{lowest:.3f}"


def aims(cells: pd.DataFrame) -> str:
    """What was aimed at, what it is, and whether it is met."""
    used = as_used(cells).query("method == @RULE")
    lowest = repeated(cells).query("kind != 'groups'")["coverage_again"].min()
    rows = [
        ("lowest confirmed coverage, independent rows", f"at least {LOWEST}", lowest, not lowest < LOWEST)
    ]
    used = used[used["kind"] != CLASSES]
    of_metric = {METRICS[metric]: (used[used["metric"] == metric], most) for metric, most in WIDTHS.items()}
    overfit = used.query("metric == 'error' and overfits_before > 0.5")
    of_metric["error, classifiers that overfit"] = (overfit, WIDTH_OVERFIT)
    for name, (some, most) in of_metric.items():
        mean = some["width_over_new"].mean()
        rows.append((f"mean width, {name}", f"at most {most:.2f}", mean, mean <= most))
    return table(
        [
            {
                "aim": what,
                "target": target,
                "result": (NO_MISS if run_again() else "not run yet") if pd.isna(value) else f"{value:.3f}",
                "met": "" if pd.isna(value) and not run_again() else "yes" if met else "**no**",
            }
            for what, target, value, met in rows
        ]
    )


def kinds(cells: pd.DataFrame) -> str:
    """One line per kind of cell and metric, for the recommended interval."""
    used = as_used(cells).query("method == @RULE")
    rows = []
    for kind, of_kind in used.groupby("kind", sort=False):
        for name, some in of_groups(of_kind):
            rows.append(
                {
                    "kind": kind,
                    "metric": name,
                    "cells": str(len(some)),
                    "reached 95%": str(int(some["keeps_level"].sum())),
                    "lowest coverage": f"{some['coverage'].min():.3f}",
                    "width / from n new cases": ratio(some["width_over_new"].mean()),
                }
            )
    return table(rows)


def methods(cells: pd.DataFrame) -> str:
    """One line per metric and method, the recommended interval first."""
    used, rows = as_used(cells), []
    for name, of_metric in of_groups(used):
        for method, some in of_metric.groupby("method", sort=False):
            rows.append(
                {
                    "metric": name,
                    "interval": shown(method),
                    "cells": str(len(some)),
                    "reached 95%": str(int(some["keeps_level"].sum())),
                    "lowest coverage": f"{some['coverage'].min():.3f}",
                    "median": f"{some['coverage'].median():.3f}",
                    "width / from n new cases": ratio(some["width_over_new"].mean()),
                }
            )
    return table(rows)


def kinds_of_the_error(cells: pd.DataFrame) -> str:
    """One line per kind of cell, for the recommended interval of the error; the lowest coverage first."""
    used = as_used(cells).query("method == @RULE and metric == 'error'")
    groups = [(str(kind), some) for kind, some in used.groupby("kind")]
    return table(
        [
            {
                "kind": kind,
                "cells": str(len(some)),
                "reached 95%": str(int(some["keeps_level"].sum())),
                "lowest coverage": f"{some['coverage'].min():.3f}",
                "width / from n new cases": ratio(some["width_over_new"].mean()),
            }
            for kind, some in sorted(groups, key=lambda group: group[1]["coverage"].min())
        ]
    )


def kinds_of_scores(cells: pd.DataFrame) -> str:
    """One line per kind of cell: lowest coverage, cells, and width, of the AUC and of the Brier score."""
    used = as_used(cells).query("method == @RULE and metric in ['auc', 'brier']")
    rows = []
    for kind, of_kind in used.groupby("kind"):
        row = {"kind": str(kind)}
        for metric, some in of_kind.groupby("metric"):
            name = METRICS[str(metric)]
            row[name] = f"{some['coverage'].min():.3f}: {some['keeps_level'].sum()} of {len(some)} reached"
            row[f"{name}: width / from n new cases"] = ratio(some["width_over_new"].mean())
        rows.append((of_kind["coverage"].min(), row))
    return table([row for _, row in sorted(rows, key=lambda one: one[0])])


def splitting(cells: pd.DataFrame) -> str:
    """Whether learners that split their rows are better refitted without or with copies of rows, in a sentence."""
    some = cells[(cells["kind"] == SPLITTING) & (cells["method"] == RULE)]
    both_ways = some.groupby(["metric", "cell"])["copies"].transform("nunique") == 2
    of_copies = dict(iter(some[both_ways].groupby("copies")))
    kept = [
        f"{of_copies[copies]['keeps_level'].sum()} {way} (width {ratio(of_copies[copies]['width_over_new'].mean())})"
        for way, copies in WAYS.items()
    ]
    n_cells = len(of_copies[False])
    return f"Of {n_cells} cells with both ways of refitting, {' and '.join(kept)} reached their level."


def misses(cells: pd.DataFrame) -> str:
    """The cells that missed, and their repetition."""
    if not run_again():
        return NOT_YET
    return table(
        [
            {
                "cell": line.cell,
                "metric": METRICS.get(line.metric, line.metric),
                "coverage": f"{line.coverage:.3f} ± {line.mcse:.3f}",
            }
            | _in_new_sets(line)
            for line in repeated(cells).itertuples()
        ]
    )


def _in_new_sets(line: Any) -> dict[str, str]:
    if pd.isna(line.sets_again):
        return {"new sets": "not run", "in new sets": "", "reaches .95": "", "form before (its width)": ""}
    return {
        "new sets": f"{line.sets_again:.0f}",
        "in new sets": f"{line.coverage_again:.3f} ± {line.mcse_again:.3f}",
        "reaches .95": "yes" if line.keeps_level_again else "**no**",
        "form before (its width)": f"{line.coverage_before:.3f} ({line.width_before:.2f})",
    }


def confirmed(cells: pd.DataFrame) -> str:
    """The cells that missed their level, and missed it again in new training sets."""
    if not run_again():
        return NOT_YET
    return table(
        [
            {
                "setting": f"{line.cell}, n = {line.n}",
                "metric": METRICS.get(line.metric, line.metric),
                "coverage": f"{line.coverage_again:.3f} ± {line.mcse_again:.3f}",
            }
            for line in repeated(cells).query("keeps_level_again == False").itertuples()
        ]
    )


def variants(_: pd.DataFrame) -> str:
    """Forms that were not used."""
    return table(
        [
            {
                "metric": METRICS.get(line.metric, line.metric),
                "variant": re.sub(r"\bb\b", "E₁", line.variant),  # the page writes E₁ for the out-of-bag loss
                "cells": str(line.cells),
                "below 95%": str(line.short),
                "lowest coverage": f"{line.lowest:.3f}",
                "width / from n new cases": ratio(line.width_over_new),
            }
            for line in read("variants.csv").itertuples()
        ]
    )


def lowest(metric: str, number: int, cells: pd.DataFrame) -> str:
    """The cells of a metric with the lowest coverage."""
    used = as_used(cells).query("method == @RULE")
    used = used[group_of(used) == CLINICAL] if metric == CLINICAL else used[used["metric"] == metric]
    rows = []
    for line in used.sort_values(["coverage", "cell"]).head(number).itertuples():
        row = {"metric": line.metric} if metric == CLINICAL else {}
        row |= {
            "cell": line.cell,
            "classifier": line.classifier,
            "n": str(line.n),
            "sets": str(line.sets),
            "coverage": f"{line.coverage:.3f} ± {line.mcse:.3f}" + ("" if line.keeps_level else " **no**"),
            "truth below, above": f"{line.low_above_truth:.3f}, {line.high_below_truth:.3f}",
            "width": f"{line.width:.3f}",
        }
        rows.append(row)
    return table(rows)


def ratio(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.2f}"


def shown(method: str) -> str:
    return method if method == BEFORE else f"`{method}`"


TABLES: dict[str, Callable[[pd.DataFrame], str]] = {
    "progress": progress,
    "in-short": in_short,
    "aims": aims,
    "kinds": kinds,
    "methods": methods,
    "kinds-of-the-error": kinds_of_the_error,
    "kinds-of-scores": kinds_of_scores,
    "splitting": splitting,
    "misses": misses,
    "confirmed": confirmed,
    "variants": variants,
    "lowest-error": partial(lowest, "error", 5),
    "lowest-clinical": partial(lowest, CLINICAL, 5),
}
PARTS = {f"recommended-{name}": lambda make=make: make(read()) for name, make in TABLES.items()}
