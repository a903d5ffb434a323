"""The tables and the picture of docs/evidence/benchmarks_of_others.md, from the stored cells of its designs."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from tabulate import tabulate

from cudbound.study.design_file import template_text

EVIDENCE = Path(__file__).parents[2] / "docs" / "evidence"
SCHULZ = ("schulz-kuempel", "schulz-kuempel-nested", "schulz-kuempel-forests")
BATES = ("bates", "bates-high-dimensional")
TUNED = ("tuned-classifiers-of-others", "tuned-classifiers-of-others-slow")
DESIGNS = (*SCHULZ, "schulz-kuempel-brier", *BATES, "intervals-of-others", *TUNED)
RULE = "two-center"
#: What the columns of tables are called that have a word for the method.
SHORT = {
    "bootstrap-632-plus-normal": "632-plus-normal",
    "corrected-resampled-t": "corrected-t",
    "single-split-t": "hold-out",
    "out-of-bag-percentile": "oob-percentile",
}
#: Mean undercoverage at n = 100 over those processes of the source that undercover, from the summary of its repository:
#: methods by learners. The source has nine processes, and this study two of them.
PUBLISHED = pd.DataFrame(
    {
        "tree": [0.117, 0.026, 0.004, 0.000, 0.017, 0.039, 0.021],
        "logistic": [0.091, 0.016, 0.090, 0.141, 0.411, 0.119, 0.153],
        "forest": [0.049, 0.009, 0.013, 0.000, 0.000, 0.037, 0.121],
        "ridge": [0.079, 0.028, 0.023, 0.000, 0.062, 0.045, 0.158],
    },
    index=[
        *("bayle-cv", "corrected-resampled-t", "conservative-z", "nested-cv"),
        *("bootstrap-632-plus-normal", "single-split-t", "5x2cv-t"),
    ],
)
#: The sources: title in the picture, designs and level.
PANELS = (
    ("Schulz-Kümpel et al., level .95", SCHULZ, 0.95),
    ("Bates, Hastie and Tibshirani, level .90", BATES, 0.90),
)
NOT_YET = "No cell has 100 sets yet."


def read(*designs: str) -> pd.DataFrame:
    """The stored cells of designs, with a title for each cell."""
    files = [EVIDENCE / name / "cells.csv" for name in designs]
    parts = [pd.read_csv(file) for file in files if file.exists()]
    if not parts:
        return pd.DataFrame(columns=["scenario", "n", "method", "cell"])
    cells = pd.concat(parts, ignore_index=True)
    scenario = cells["scenario"].str.replace(r", n = \d+$", "", regex=True)
    return cells.assign(cell=scenario + ", n = " + cells["n"].astype(str), scenario=scenario)


def table(rows: list[dict[str, str]]) -> str:
    return tabulate(rows, headers="keys", tablefmt="pipe", disable_numparse=True) if rows else NOT_YET


def title(method: str) -> str:
    return f"`{SHORT.get(method, method)}`"


def cells_in_full(*designs: str, first: str = RULE) -> str:
    """Coverage and width of all methods in every cell; that of the first method's lowest coverage is first."""
    cells = read(*designs)
    methods = list(dict.fromkeys(cells["method"]))
    rows = []
    for cell, part in cells.groupby("cell", sort=False):
        of_method = part.set_index("method")
        row: dict[str, str] = {"cell": str(cell)}
        row["sets"] = str(of_method["sets"].max())
        row["true value"] = f"{of_method['truth'].iloc[0]:.3f}"
        for method in methods:
            text = ""
            if method in of_method.index:
                line = of_method.loc[method]
                text = f"{line['coverage']:.3f} / {line['width']:.2f}" + (
                    "" if line["keeps_level"] else " \\*"
                )
            row[title(method)] = text
        rows.append(row)
    return table(sorted(rows, key=lambda row: row[title(first)] or "9"))


def by_method(*designs: str) -> str:
    """Every method over the cells, that of the lowest coverage first."""
    rows = []
    for method, part in read(*designs).groupby("method"):
        worst = part.loc[part["coverage"].idxmin()]
        rows.append(
            {
                "method": title(str(method)),
                "cells": str(len(part)),
                "level missed": str((~part["keeps_level"].astype(bool)).sum()),
                "lowest coverage": f"{worst['coverage']:.3f} ± {worst['mcse']:.3f}",
                "where": worst["cell"],
                "median coverage": f"{part['coverage'].median():.3f}",
                "mean width": f"{part['width'].mean():.3f}",
            }
        )
    return table(sorted(rows, key=lambda row: row["lowest coverage"]))


def pattern() -> str:
    """Mean undercoverage at n = 100 over the processes that undercover: as published / here."""
    cells = read(*SCHULZ)
    cells = cells[cells["n"] == 100]
    learner = cells["scenario"].str.rpartition(", ")[2]
    rows = []
    for method in (RULE, *PUBLISHED.index):
        row = {"method": title(method)}
        for name in PUBLISHED:
            part = cells[(cells["method"] == method) & (learner == name)]
            short = np.maximum(0.95 - part["coverage"], 0.0)
            here = "" if part.empty else f"{short[short > 0.0].mean() if short.any() else 0.0:.3f}"
            there = f"{PUBLISHED.loc[method, name]:.3f}" if method in PUBLISHED.index else "-"
            row[name] = f"{there} / {here or '-'}"
        rows.append(row)
    return table(rows)


def own_targets(*designs: str) -> str:
    """Methods that aim at an expected error, judged by the fitted classifier and by that error."""
    cells = read(*designs).dropna(subset="coverage_of_expected")
    return table(
        [
            {
                "method": title(str(method)),
                "cells": str(len(part)),
                "lowest, fitted classifier": f"{part['coverage'].min():.3f}",
                "median": f"{part['coverage'].median():.3f}",
                "lowest, expected error": f"{part['coverage_of_expected'].min():.3f}",
                "its median": f"{part['coverage_of_expected'].median():.3f}",
            }
            for method, part in cells.groupby("method")
        ]
    )


def stable_learners() -> str:
    """Coverage of the difference of the fitted classifiers, and of the expected errors; bayle-cv's lowest first."""
    cells = read("stable-learners")
    methods = list(dict.fromkeys(cells["method"]))
    rows = []
    for cell, part in cells.groupby("cell", sort=False):
        of_method = part.set_index("method")
        row = {"cell": str(cell), "sets": str(of_method["n_replicates"].max())}
        row["true difference"] = f"{of_method['mean_truth'].iloc[0]:.4f}"
        for method in methods:
            line = of_method.loc[method]
            expected = line["coverage_of_expected"]
            own = "-" if np.isnan(expected) else f"{expected:.3f}"
            star = " \\*" if line["coverage"] + 1.645 * line["coverage_mcse"] < 0.95 else ""
            row[title(method)] = f"{line['coverage']:.3f} / {own} / {line['width']:.3f}{star}"
        rows.append(row)
    return table(sorted(rows, key=lambda row: row[title("bayle-cv")]))


def in_short() -> str:
    """How the interval to report and the usual one did in the cells of both sources, in a sentence for each."""
    lines = []
    for source, designs, level in PANELS:
        cells = read(*designs)
        if cells.empty:
            continue
        parts = []
        for method in (RULE, "bayle-cv"):
            part = cells[cells["method"] == method]
            worst, missed = (
                part.loc[part["coverage"].idxmin()],
                int((~part["keeps_level"].astype(bool)).sum()),
            )
            parts.append(
                f"`{method}` missed its level in {missed} of {len(part)} cells, with a lowest coverage of "
                f"{worst['coverage']:.3f} ({worst['cell']}) and a mean width of {part['width'].mean():.3f}"
            )
        lines.append(f"- {source.rpartition(', ')[0]}, level {level:.2f}: {'; '.join(parts)}.")
    return "\n".join(lines)


def progress() -> str:
    """What has run of each design."""
    rows = []
    for name in DESIGNS:
        design, cells = tomllib.loads(template_text(name)), read(name)
        registered = [
            one.get("n_replicates", design["n_replicates"])
            for one in design["scenario"]
            for _ in one.get("n_samples", design["n_samples"])
        ]
        sets = cells.groupby("cell")["sets"].max() if len(cells) else pd.Series(dtype=int)
        rows.append(
            {
                "design": f"`{name}`",
                "cells registered": str(len(registered)),
                "sets of a cell": _range(registered),
                "cells with 100 sets": str(len(sets)),
                "their sets": _range(list(sets)) if len(sets) else "",
            }
        )
    return table(rows)


def _range(numbers: list[int]) -> str:
    return " to ".join(str(number) for number in sorted({min(numbers), max(numbers)}))


def downloads() -> str:
    """Links to the stored files."""
    links = []
    for name in (*DESIGNS, "stable-learners"):
        files = [file for file in ("cells.csv", "rows.csv.gz") if (EVIDENCE / name / file).exists()]
        if files:
            words = " and ".join(f"[{file.partition('.')[0]}]({name}/{file})" for file in files)
            links.append(f"`{name}` {words}")
    return f"{'; '.join(links)}. Rows are those of `two-center`."


#: Methods of the picture, with marker, color and words.
SHOWN = {
    "bayle-cv": ("s", "#c44e52", "10-fold cross-validation, normal"),
    "single-split-t": ("^", "#dd8452", "a third held out"),
    "corrected-resampled-t": ("D", "#8c8c8c", "corrected resampled t"),
    RULE: ("o", "#1f4e9c", "two-center"),
}


def picture() -> Figure:
    """Coverage of the error of the fitted classifier in the cells of both sources, the lowest of two-center on top."""
    panels = [(title, read(*designs), level) for title, designs, level in PANELS]
    orders = [
        cells[cells["method"] == RULE].sort_values("coverage", ascending=False)["cell"].tolist()
        for _, cells, _ in panels
    ]
    heights = [max(len(order), 1) for order in orders]
    fig, axes = plt.subplots(
        len(panels), 1, sharex=True, figsize=(4.6, 2.2 + 0.27 * sum(heights)), height_ratios=heights,
        layout="constrained",
    )  # fmt: skip
    for ax, (words, cells, level), order in zip(axes, panels, orders, strict=True):
        for method, (marker, color, label) in SHOWN.items():
            part = cells[cells["method"] == method].set_index("cell")["coverage"].reindex(order)
            size = 50 if method == RULE else 28
            ax.scatter(part, range(len(order)), marker=marker, s=size, color=color, label=label, zorder=3)
        ax.axvline(level, color="0.3", lw=1, ls="--", zorder=1)
        ax.set_title(words, fontsize="medium", loc="left")
        ax.set_yticks(range(len(order)), order)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", color="0.92", zorder=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.set_ylim(-0.6, len(order) - 0.4)
    axes[-1].set_xlim(right=1.012)
    axes[-1].set_xlabel("coverage (dashed: the level)")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=1, frameon=False)
    return fig


PARTS: dict[str, Callable[[], str]] = {
    "benchmarks-in-short": in_short,
    "benchmarks-progress": progress,
    "benchmarks-downloads": downloads,
    "schulz-kuempel-methods": partial(by_method, *SCHULZ),
    "schulz-kuempel-cells": partial(cells_in_full, *SCHULZ),
    "schulz-kuempel-pattern": pattern,
    "schulz-kuempel-own": partial(own_targets, *SCHULZ),
    "schulz-kuempel-brier": partial(cells_in_full, "schulz-kuempel-brier"),
    "bates-cells": partial(cells_in_full, *BATES),
    "tuned-cells": partial(cells_in_full, *TUNED, first="bbc-f"),
    "stable-learners": stable_learners,
    "training-normal-cells": partial(cells_in_full, "intervals-of-others", first="training-normal"),
}
