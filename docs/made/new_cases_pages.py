"""The tables of docs/evidence/new_cases.md, from the files of the study in docs/evidence/new-cases."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
from tabulate import tabulate

FOLDER = Path(__file__).parents[2] / "docs" / "evidence" / "new-cases"
#: Sets that were registered, training rows and numbers of new cases.
REGISTERED = 19 * 300
METRICS = {
    "error": "error",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "auc": "AUC",
    "brier": "Brier score",
}
CELL = ["setting", "m", "metric"]
SHIFTED = "shifted: "


def cells_of(shifted: bool, name: str = "cells.csv") -> pd.DataFrame:
    """The cells with new cases of the same population, or of another one."""
    cells = pd.read_csv(FOLDER / name)
    return cells[cells["setting"].str.startswith(SHIFTED) == shifted]


def table(rows: list[dict[str, str]]) -> str:
    return tabulate(rows, headers="keys", tablefmt="pipe", disable_numparse=True)


def share(value: float) -> str:
    return f"{value:.3f}"


def confirmed() -> pd.DataFrame:
    """The cells without shift that did not reach the level, with the numbers of their repetition."""
    cells = cells_of(False)
    again = cells_of(False, "misses.csv")[
        [*CELL, "sets", "coverage", "mcse", "keeps_level", "coverage_training"]
    ]
    return cells[~cells["keeps_level"]].merge(again, on=CELL, how="left", suffixes=("", "_again"))


def progress() -> str:
    cells = pd.read_csv(FOLDER / "cells.csv")
    drawn = (cells["sets"] + cells["without_interval"]).groupby(cells["setting"]).max()
    if drawn.sum() >= REGISTERED:
        return f"All {REGISTERED:,} registered sets have run."
    how_many = f"{drawn.sum():,} of {REGISTERED:,} registered sets have run"
    return f"**The run was stopped early: {how_many}**, at least {drawn.min()} of each setting."


def in_short() -> str:
    rows, misses = [], confirmed()
    for metric, title in METRICS.items():
        cells = cells_of(False)[lambda frame, metric=metric: frame["metric"] == metric]
        lowest = cells.iloc[0]
        again = misses.loc[misses["metric"] == metric, "coverage_again"].min()
        rows.append(
            {
                "metric": title,
                "cells": str(len(cells)),
                "reached 95%": str(int(cells["keeps_level"].sum())),
                "lowest coverage": f"{share(lowest['coverage'])}: {lowest['setting']}, m = {lowest['m']}",
                "lowest in new sets": "" if pd.isna(again) else share(again),
                "width / training alone": f"{(cells['width'] / cells['width_training']).mean():.2f}",
                "width / new cases alone": f"{(cells['width'] / cells['width_new']).mean():.2f}",
                "contradicted, at most": share(cells["contradicted"].max()),
            }
        )
    return table(rows)


def misses() -> str:
    rows = []
    for line in confirmed().sort_values(["coverage_again", "coverage"]).itertuples():
        done = not pd.isna(line.sets_again)
        again = f"{share(line.coverage_again)} ± {share(line.mcse_again)}" if done else "not repeated"
        rows.append(
            {
                "setting": line.setting,
                "m": str(line.m),
                "metric": METRICS[line.metric],
                "coverage": f"{share(line.coverage)} ± {share(line.mcse)}",
                "new sets": f"{line.sets_again:.0f}" if done else "",
                "in new sets": again,
                "reaches .95": ("yes" if line.keeps_level_again else "**no**") if done else "",
                "`two-center` there": share(line.coverage_training_again) if done else "",
            }
        )
    return table(rows) if rows else "No cell without shift missed its level."


def by_ratio() -> str:
    cells, rows = cells_of(False), []
    order = cells.groupby("setting")["m"].rank(method="dense").astype(int)
    for ratio, number in ((0.2, 1), (0.6, 2), (2.0, 3)):
        for metric, title in METRICS.items():
            part = cells[(order == number) & (cells["metric"] == metric)]
            rows.append(
                {
                    "m / n": f"{ratio:g}",
                    "metric": title,
                    "lowest coverage": share(part["coverage"].min()),
                    "median": share(part["coverage"].median()),
                    "width": share(part["width"].mean()),
                    "training alone": share(part["width_training"].mean()),
                    "new cases alone": share(part["width_new"].mean()),
                }
            )
    return table(rows)


def all_cells(shifted: bool) -> str:
    rows = []
    for line in cells_of(shifted).itertuples():
        row = {
            "setting": line.setting.removeprefix(SHIFTED),
            "m": str(line.m),
            "metric": METRICS[line.metric],
            "sets": str(line.sets),
            "coverage": f"{share(line.coverage)} ± {share(line.mcse)}"
            + ("" if line.keeps_level or shifted else " **no**"),
        }
        if shifted:
            row |= {
                "true value, in training, there": f"{share(line.truth)}, {share(line.truth_elsewhere)}",
                "contradicted": share(line.contradicted),
                "coverage there": share(line.coverage_elsewhere),
                "if not contradicted": share(line.coverage_elsewhere_if_not_contradicted),
            }
        else:
            row |= {
                "truth below, above": f"{share(line.truth_below)}, {share(line.truth_above)}",
                "width": share(line.width),
                "training alone": f"{share(line.width_training)} ({share(line.coverage_training)})",
                "new cases alone": f"{share(line.width_new)} ({share(line.coverage_new)})",
                "no interval": str(line.without_interval),
            }
        rows.append(row)
    return table(rows)


PARTS: dict[str, Callable[[], str]] = {
    "new-cases-progress": progress,
    "new-cases-in-short": in_short,
    "new-cases-misses": misses,
    "new-cases-by-ratio": by_ratio,
    "new-cases-cells": partial(all_cells, False),
    "new-cases-shifted": partial(all_cells, True),
}
