"""What the further centers of two-center changed in the cells that were published before.

``python tests/helpers/published_again.py FOLDER... --output cells.csv`` reads what ``cudbound study export`` wrote for
the designs of ``designs_again.py``, and sets the limits of before beside those of now on the same training sets.

Before, the lower limit was that of the smaller of the two centers, and the upper one that of the larger, capped up to a
rank of half of the rows. Since further centers can only raise the largest one, the capped limit of before is the
smaller of that of now and the upper limit of the larger of the two. Where the cap was dropped since, with a rank of a
third to half of the rows, the limit of before cannot be had from this run: the published width stands for it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import betaincinv

EARLIER = Path(__file__).parents[2] / "docs" / "evidence" / "earlier"
#: The studies of two-center, as they were published; the first that has a cell counts.
STUDIES = ("where-intervals-break", "paper2008", "logistic-regression", "decision-trees", "random-forests")
LEVEL = 0.95


def published() -> dict[tuple[str, int], tuple[float, float]]:
    """Return coverage and width of two-center by cell."""
    cells = pd.concat([pd.read_csv(EARLIER / f"{study}.csv") for study in STUDIES])
    first = cells[cells["method"] == "two-center"].drop_duplicates(["scenario", "n"])
    return {(one.scenario, one.n): (one.coverage, one.width) for one in first.itertuples()}


def beside(rows: pd.DataFrame) -> dict[str, float]:
    """Return coverage and mean width of one cell, before and now."""
    n, tail = float(rows["n"].iloc[0]), (1 - LEVEL) / 2
    two = rows[["detail_optimism_corrected", "detail_error_632_plus"]].to_numpy()
    low = binomial_limit(n, two.min(axis=1), tail)
    high = 1.0 - binomial_limit(n, 1.0 - two.max(axis=1), tail)
    capped = rows["detail_uncapped_high"].notna().to_numpy()
    high = np.where(capped, np.minimum(high, rows["high"]), high)
    truth = rows["truth"].to_numpy()

    def covered(limits: tuple[np.ndarray, np.ndarray]) -> float:
        return float(((limits[0] <= truth) & (truth <= limits[1])).mean())

    now = rows["low"].where(~excludes_nothing(rows), 0.0).to_numpy(), rows["high"].to_numpy()
    return {
        "rank": float(rows["detail_rank"].median()),
        "sets": len(rows),
        "coverage_before": covered((low, high)),
        "coverage": covered(now),
        "width_before": float(np.mean(high - low)),
        "width": float(np.mean(now[1] - now[0])),
    }


def excludes_nothing(rows: pd.DataFrame) -> pd.Series:
    """Whether a training set of each row shows no error of a classifier of few columns: the lower limit is then 0.

    That was decided while the confirmation was under way; the stores of these studies are of the interval before.
    """
    return (rows["detail_training_error"] == 0.0) & (rows["detail_rank"] <= rows["n"] / 2)


def binomial_limit(n: float, share: np.ndarray, tail: float) -> np.ndarray:
    """Return the lower limits of Clopper and Pearson for these shares of n rows."""
    wrong = np.clip(n * share, 0.0, n)
    return np.where(wrong <= 0.0, 0.0, betaincinv(np.maximum(wrong, 1e-12), n - wrong + 1.0, tail))


def cells_of(folder: Path) -> pd.DataFrame:
    """Return one row per cell of an exported study."""
    rows = pd.read_csv(folder / "rows.csv.gz")
    rows = rows[rows["method"] == "two-center"].dropna(subset=["low", "high", "truth"])
    known = published()
    found = []
    for (scenario, n), cell in rows.groupby(["scenario", "n"], sort=False):
        values = beside(cell)
        values["before_is_published"] = n / 3 < values["rank"] <= n / 2
        if values["before_is_published"]:
            values["coverage_before"], values["width_before"] = known[scenario, n]
        found.append({"design": folder.name, "scenario": scenario, "n": n, **values})
    return pd.DataFrame(found)


def main() -> None:
    """Write the cells of all folders into one file, and print what the widths became."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    cells = pd.concat([cells_of(folder) for folder in given.folders])
    cells["ratio"] = cells["width"] / cells["width_before"]
    cells.sort_values("ratio", ascending=False).round(4).to_csv(given.output, index=False)
    print(f"{len(cells)} cells, mean ratio of widths {cells['ratio'].mean():.3f}")


if __name__ == "__main__":
    main()
