"""Tables of the confirmation, from the sets that confirm.py and again.py have run.

    python summarize.py rows STORE [--data FOLDER]      adds the sets of a store to rows.csv.xz
    python summarize.py misses STORE [--data FOLDER]    misses.csv, from the store of again.py
    python summarize.py cells [--data FOLDER]           cells.csv and variants.csv, from rows.csv.xz
    python summarize.py resume STORE                    marks the sets of rows.csv.xz as run, in an empty store

Like confirm.py and again.py it is run with the package as it was registered: git checkout 5fc0f4c6.
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from again import SEED_AGAIN
from confirm import RULE, SEED, Cell, cells
from scipy import stats
from sklearn.base import clone

from cudbound.basis.proportions import inverted_binomial_tails, jeffreys_interval
from cudbound.clinical.sections import family_of
from cudbound.intervals.auc_at_estimate import newcombe_interval
from cudbound.intervals.two_center import brier_size
from cudbound.point_estimates.auc import AucSize
from cudbound.study.population import Cases, draw_both_classes

FOLDER = Path(__file__).parent
ROWS = FOLDER / "rows.csv.xz"
LEVEL, TAIL, KEEPS = 0.95, 0.025, 1.645
#: Names of the methods in the tables: the rule was under an interim name while the form before had its own.
NAMES = {RULE: "two-center", "two-center": "two-center before"}
#: Numbers behind the limits of the rule that the variants need.
DETAILS = ("cross_validated", "at_632_plus", "out_of_bag", "lower_size", "upper_size", "variance")
CELL = ["kind", "cell", "metric"]


# ---- rows ----


def sets_of(path: Path) -> list[dict[str, Any]]:
    """Return the sets of a file of a store, in their order, each once; a line that was cut off is left out."""
    by_number = {}
    for line in path.read_text().splitlines():
        if line.endswith("}"):
            row = json.loads(line)
            if not row.get("stored"):
                by_number.setdefault(row["set"], row)
    return [by_number[number] for number in sorted(by_number)]


def rows_of(cell: Cell, store: Path, seed: int) -> Iterator[dict[str, Any]]:
    """Yield one row per set, metric and method of a cell."""
    path = store / f"{cell.name.replace('/', ' ')}.jsonl"
    for row in sets_of(path) if path.exists() else []:
        shared = {"kind": cell.kind, "cell": cell.name, "set": row["set"]}
        if "failed" in row:
            yield from (shared | {"metric": metric, "method": "failed"} for metric in cell.metrics)
            continue
        events = _n_events(cell, row["set"], seed) if "auc" in cell.metrics else 0
        for interval in row["intervals"]:
            yield shared | _row(cell, row["truth"], interval, events)


def _row(cell: Cell, truths: dict[str, float], interval: dict[str, Any], events: int) -> dict[str, Any]:
    metric, method = interval["metric"], interval["method"]
    details, truth = interval.get("details", {}), truths[metric]
    row = {
        "metric": metric,
        "method": NAMES.get(method, method),
        "copies": interval.get("copies", True),
        "truth": truth,
        **{name: interval[name] for name in ("estimate", "low", "high")},
    }
    if method == "two-center":
        return row | {"overfits": details.get("overfits")}
    if method != RULE:
        return row
    new = _width_of_new_cases(metric, truth, cell.n, events, details.get("variance"))
    return row | {name: details.get(name) for name in DETAILS} | {"events": events, "new": new}


def _n_events(cell: Cell, number: int, seed: int) -> int:
    """Return how many events a training set has; it is drawn again."""
    name = cell.samples_of or cell.name
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
    drawn, _ = draw_both_classes(cell.population, cell.n, rng)
    return int(np.sum(np.asarray(drawn.y) == 1))


def _width_of_new_cases(
    metric: str, truth: float, n: int, events: int, variance: float | None
) -> float | None:
    """Return the width of an interval from n new cases; None where none was registered."""
    if metric == "error":
        return _mean_binomial_width(round(truth, 4), n)
    if metric == "auc":
        limits = newcombe_interval(truth, events, n - events, LEVEL)
        return float(limits.high - limits.low)
    if metric == "brier" and variance is not None:
        return float(2.0 * stats.t.ppf(1.0 - TAIL, n - 1) * np.sqrt(variance / n))
    return None


@lru_cache(maxsize=100_000)
def _mean_binomial_width(error: float, n: int) -> float:
    """Return the mean width of Clopper-Pearson intervals over the binomial distribution of n cases."""
    return float(stats.binom.pmf(np.arange(n + 1), n, error) @ _widths(n))


@lru_cache(maxsize=500)
def _widths(n: int) -> Any:
    limits = [inverted_binomial_tails(float(k), float(n), TAIL, TAIL) for k in range(n + 1)]
    return np.array([high - low for low, high in limits])


def make_rows(store: Path, data: Path, seed: int) -> pd.DataFrame:
    """Return the rows of all sets that a store has itself."""
    rows = pd.DataFrame(row for cell in cells(data) for row in rows_of(cell, store, seed))
    rows["variance"] = rows["variance"].map("{:.6f}".format, na_action="ignore")
    return rows.astype({"overfits": "Int64", "events": "Int64"})


# ---- cells ----


def verdict(missed: Any) -> dict[str, Any]:
    """Return coverage, its Monte Carlo standard error, and whether the level is kept, from misses of sets."""
    missed = np.asarray(missed, dtype=bool)
    sets, coverage = missed.size, float(1.0 - missed.mean())
    mcse = float(np.sqrt(coverage * (1.0 - coverage) / sets))
    if coverage in (0.0, 1.0):
        keeps = stats.binomtest(int(sets - missed.sum()), sets).proportion_ci(LEVEL).high >= LEVEL
    else:
        keeps = coverage + KEEPS * mcse >= LEVEL
    return {"sets": sets, "coverage": coverage, "mcse": mcse, "keeps_level": bool(keeps)}


def judged(rows: pd.DataFrame, n_sets: int) -> dict[str, Any]:
    """Return the numbers of one method in one cell; sets without an interval are misses."""
    complete = rows[rows["low"].notna() & rows["high"].notna()]
    above, below = complete["low"] > complete["truth"], complete["high"] < complete["truth"]
    failed = n_sets - len(complete)
    missed = np.concatenate([(above | below).to_numpy(dtype=bool), np.ones(failed, dtype=bool)])
    return {
        **verdict(missed),
        "failed": failed,
        "low_above_truth": above.sum() / n_sets,
        "high_below_truth": below.sum() / n_sets,
        "width": (complete["high"] - complete["low"]).mean(),
        "estimate": complete["estimate"].mean(),
        "truth": complete["truth"].mean(),
    }


def cells_of(rows: pd.DataFrame, data: Path) -> pd.DataFrame:
    """Return one row per cell, metric, method and way of refitting."""
    lines = []
    for cell in cells(data):
        drawn = draw_both_classes(cell.population, cell.n, np.random.default_rng(SEED))[0]
        shape = {"n": cell.n, "p": np.shape(drawn.X)[1], "classifier": _family(cell, drawn)}
        shape["registered_sets"] = cell.sets
        for metric, part in rows[rows["cell"] == cell.name].groupby("metric"):
            shared = {"metric": metric, "kind": cell.kind, "cell": cell.name} | shape
            new, overfits = part["new"].mean(), part["overfits"].mean()
            for (method, copies), of_method in part.groupby(["method", "copies"]):
                line = judged(of_method, part["set"].nunique())
                further = {"width_over_new": line["width"] / new, "overfits_before": overfits}
                lines.append(shared | {"method": method, "copies": copies} | line | further)
    return pd.DataFrame(lines).sort_values(["metric", "method", "copies", "coverage", "cell"])


def _family(cell: Cell, drawn: Cases) -> str:
    fitted = clone(cell.classifier).fit(drawn.X, drawn.y)
    return family_of(fitted, grouped=drawn.groups is not None)


# ---- variants of the rule, from the same sets ----


def _exact(errors: float, size: float) -> tuple[float, float]:
    return inverted_binomial_tails(errors, size, TAIL, TAIL)


def _wide_tails(errors: float, size: float) -> tuple[float, float]:
    return inverted_binomial_tails(errors, size, 0.034, 0.034)


def _jeffreys(errors: float, size: float) -> tuple[float, float]:
    limits = jeffreys_interval(errors, size, LEVEL)
    return limits.low, limits.high


def changed_limits(row: Any, limits: Any, b_alone: bool) -> tuple[float, float]:
    """Return the limits of the rule with other binomial limits, or with b in place of (cv + b)/2 above."""
    flipped = row.metric == "auc"
    losses = (row.cross_validated, row.at_632_plus, row.out_of_bag)
    cv, plus, b = (1.0 - value if flipped else value for value in losses)
    low_size, high_size = (row.upper_size, row.lower_size) if flipped else (row.lower_size, row.upper_size)
    low_center, high_center = min(cv, plus), max(cv, plus, (cv + b) / 2.0)
    if b_alone and b > high_center:
        high_center, high_size = b, _size_at(row, b, high_size)
    low, high = limits(low_size * low_center, low_size)[0], limits(high_size * high_center, high_size)[1]
    if row.metric == "error" and row.low == 0.0:
        low = 0.0  # of a classifier with few columns and without a training error
    return (1.0 - high, 1.0 - low) if flipped else (low, high)


def _size_at(row: Any, loss: float, size: float) -> float:
    """Return the number of cases behind a limit from another center."""
    if row.metric == "auc":
        others = int(row.n) - int(row.events)
        sizes = AucSize(int(row.events), others, min(int(row.events), others), row.variance)
        return sizes.at(1.0 - loss)
    # the effective rows are the same; of the Brier score they follow from those of the lower limit
    return size if row.metric == "error" else brier_size(loss, row.variance, row.effective)


def variants_of(rows: pd.DataFrame, data: Path) -> pd.DataFrame:
    """Return one row per metric and variant: cells that are short, the lowest coverage and the mean width."""
    sizes = {cell.name: cell.n for cell in cells(data)}
    of_rule = rows[(rows["method"] == "two-center") & rows["cross_validated"].notna()]
    of_rule = of_rule[of_rule["metric"].isin(["error", "auc", "brier"]) & (of_rule["kind"] != "groups")]
    of_rule = of_rule.assign(n=of_rule["cell"].map(sizes), effective=of_rule["cell"].map(sizes))
    lines = []
    for name, (limits, b_alone) in VARIANTS.items():
        pairs = [changed_limits(row, limits, b_alone) for row in of_rule.itertuples()]
        changed = of_rule.assign(low=[low for low, _ in pairs], high=[high for _, high in pairs])
        for metric, of_metric in changed.groupby("metric"):
            judgments = [
                judged(part, part["set"].nunique()) | {"new": part["new"].mean()}
                for _, part in of_metric.groupby(["cell", "copies"])
            ]
            lines.append(
                {
                    "metric": metric,
                    "variant": name,
                    "cells": len(judgments),
                    "short": sum(not judgment["keeps_level"] for judgment in judgments),
                    "lowest": min(judgment["coverage"] for judgment in judgments),
                    "width_over_new": np.mean(
                        [judgment["width"] / judgment["new"] for judgment in judgments]
                    ),
                }
            )
    return pd.DataFrame(lines).sort_values(["metric", "variant"])


VARIANTS = {
    "the rule": (_exact, False),
    "Jeffreys limits": (_jeffreys, False),
    "tails of 3.4 %": (_wide_tails, False),
    "b in place of (cv + b)/2": (_exact, True),
}


# ---- misses ----


def misses_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the coverage of the rule in the cells that were run again, for every metric, and of the form before.

    The form before has the same sets; `width_before` is its mean width over that of the rule.
    """
    lines = []
    for (_, cell, metric), part in rows.groupby(CELL):
        of_before = part[part["method"] == "two-center before"].drop_duplicates("set")
        before = judged(of_before, part["set"].nunique())
        for copies, of_way in part[part["method"] == "two-center"].groupby("copies"):
            judgment = judged(of_way, part["set"].nunique())
            names = ("sets", "coverage", "mcse", "keeps_level")
            shared = {"metric": metric, "cell": cell, "copies": copies}
            beside = {
                "coverage_before": before["coverage"],
                "width_before": before["width"] / judgment["width"],
            }
            lines.append(shared | {name: judgment[name] for name in names} | beside)
    return pd.DataFrame(lines).sort_values(["coverage", "cell", "metric"])


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("rows", "cells", "misses", "resume"))
    parser.add_argument("store", nargs="?", type=Path, default=Path("store"))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CUDBOUND_DATA", "data")))
    arguments = parser.parse_args()
    if arguments.command == "rows":
        stored = [pd.read_csv(ROWS)] if ROWS.exists() else []
        rows = pd.concat([*stored, make_rows(arguments.store, arguments.data, SEED)])
        rows.to_csv(ROWS, index=False, float_format="%.4f", compression={"method": "xz", "preset": 9})
        return
    if arguments.command == "misses":
        repeated = make_rows(arguments.store, arguments.data, SEED_AGAIN)
        misses_of(repeated).to_csv(FOLDER / "misses.csv", index=False, float_format="%.4f")
        return
    rows = pd.read_csv(ROWS)
    if arguments.command == "resume":
        arguments.store.mkdir(exist_ok=True)
        for name, of_cell in rows.groupby("cell"):
            lines = "".join(f'{{"set": {number}, "stored": true}}\n' for number in of_cell["set"].unique())
            (arguments.store / f"{name.replace('/', ' ')}.jsonl").write_text(lines)
        return
    cells_of(rows, arguments.data).to_csv(FOLDER / "cells.csv", index=False, float_format="%.4f")
    variants_of(rows, arguments.data).to_csv(FOLDER / "variants.csv", index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
