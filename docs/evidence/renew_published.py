"""Make the files, tables and picture of the repeated experiments: ``python docs/evidence/renew_published.py FOLDER``.

FOLDER has the stores ``laber-murphy-2011.sqlite`` and ``grandvalet-bengio-large.sqlite`` and the folder
``nadeau-bengio``, or some of them; a run may be writing to them. Cells with fewer than 100 sets are left out, as
registered.
"""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path

import pandas as pd
from export_study import evidence

from cudbound.report.files import write_texts
from cudbound.study import summarize
from cudbound.study.store import Store

EVIDENCE = Path(__file__).parent
MADE = EVIDENCE.parent / "made"
#: A cell with fewer sets is not published.
FEWEST_SETS = 100
MEASURED = EVIDENCE / "tests-of-learners" / "measured.csv"


def export(store: Path, files: dict[str, str | bytes]) -> None:
    """Write the cells and rows of a store, of cells with enough sets."""
    cells = pd.read_csv(io.StringIO(str(files["cells.csv"])))
    cells = cells[cells["sets"] >= FEWEST_SETS]
    rows = pd.read_csv(io.BytesIO(gzip.decompress(bytes(files["rows.csv.gz"]))), dtype=str)
    kept = set(zip(cells["scenario"], cells["n"].astype(str), strict=True))
    rows = rows[[key in kept for key in zip(rows["scenario"], rows["n"], strict=True)]]
    folder = EVIDENCE / store.stem
    folder.mkdir(exist_ok=True)
    # without the design: that of the package is the whole one
    write_texts(
        {
            folder / "cells.csv": cells.to_csv(index=False, float_format="%.6g"),
            folder / "rows.csv.gz": gzip.compress(rows.to_csv(index=False).encode(), mtime=0),
        }
    )


def of_expected_errors(store: Path) -> dict[str, str | bytes]:
    """Return the files of a store whose methods aim at the expected error, by which they are judged here."""
    shown = {
        "n_replicates": "sets",
        "expected": "expected_error",
        "coverage_of_expected": "coverage",
        "coverage_of_expected_mcse": "mcse",
        **{name: name for name in ("bias_of_expected", "se_ratio", "se_ratio_mcse", "width")},
    }
    cells = summarize(store).cells
    with Store.open(store) as opened:
        cells["seed"] = opened.description["seed"]
    names = ["scenario", "n", "method", *shown, "seed"]
    return {**evidence(store), "cells.csv": cells[names].rename(columns=shown).to_csv(index=False)}


def measure(cells: pd.DataFrame) -> None:
    """Replace the lines of table 2 of Grandvalet and Bengio (2006) at the sizes of the cells."""
    lines = []
    for line in cells.itertuples():
        key = {"method": line.method, "n": line.n, "sets": line.sets}
        lines.append(key | {"measure": "type I error", "value": 1.0 - line.coverage, "mcse": line.mcse})
        if line.method == "k-fold-t":
            missing, its_mcse = 1.0 - line.se_ratio**2, 2.0 * line.se_ratio * line.se_ratio_mcse
            lines.append(key | {"measure": "missing share of variance", "value": missing, "mcse": its_mcse})
    before = pd.read_csv(MEASURED)
    new = pd.DataFrame(lines, columns=before.columns)
    kept = before[~before["n"].isin(new["n"])]
    pd.concat([kept, new]).to_csv(MEASURED, index=False, float_format="%.6g")


def main() -> None:
    """Renew the files of the stores that are there."""
    folder = Path(sys.argv[1])
    if (store := folder / "laber-murphy-2011.sqlite").exists():
        export(store, evidence(store))
    if (store := folder / "grandvalet-bengio-large.sqlite").exists():
        export(store, of_expected_errors(store))
        measure(pd.read_csv(EVIDENCE / store.stem / "cells.csv"))
    programs = [[MADE / "docs_pages.py"], [MADE / "explained_pictures.py", EVIDENCE.parent / "pictures"]]
    if (store := folder / "nadeau-bengio").exists():
        programs.insert(0, [EVIDENCE / "nadeau-bengio" / "run.py", "summary", store])
    for program in programs:
        subprocess.run([sys.executable, *program], check=True)


if __name__ == "__main__":
    main()
