"""Make the files of the repeated experiments from their stores: ``python docs/evidence/renew_published.py FOLDER``.

FOLDER has ``laber-murphy-2011.sqlite``, ``grandvalet-bengio-large.sqlite`` and the folder ``nadeau-bengio``, or some
of them; a run may be writing to them. Cells with fewer than 100 sets are left out, as registered. Then
``python docs/made/docs_pages.py`` renews the pages, and ``python docs/made/explained_pictures.py docs/pictures`` the
picture.
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

EVIDENCE = Path(__file__).parent
#: A cell with fewer sets is not published.
FEWEST_SETS = 100
MEASURED = EVIDENCE / "tests-of-learners" / "measured.csv"


def export(store: Path) -> None:
    """Write the cells and rows of a store, of cells with enough sets."""
    files = evidence(store)
    del files["design.json"]  # that of the package is the design; a store may have a part of it
    cells = pd.read_csv(io.StringIO(str(files["cells.csv"])))
    cells = cells[cells["sets"] >= FEWEST_SETS]
    rows = pd.read_csv(io.BytesIO(gzip.decompress(bytes(files["rows.csv.gz"]))), dtype=str)
    kept = set(zip(cells["scenario"], cells["n"].astype(str), strict=True))
    rows = rows[[key in kept for key in zip(rows["scenario"], rows["n"], strict=True)]]
    files["cells.csv"] = cells.to_csv(index=False)
    files["rows.csv.gz"] = gzip.compress(rows.to_csv(index=False).encode(), mtime=0)
    folder = EVIDENCE / store.stem
    folder.mkdir(exist_ok=True)
    write_texts({folder / name: text for name, text in files.items()})


def measure(store: Path) -> None:
    """Replace the lines of table 2 of Grandvalet and Bengio (2006) at the sizes of a store."""
    cells = summarize(store).cells
    cells = cells[cells["n_replicates"] >= FEWEST_SETS]
    lines = []
    for line in cells.itertuples():
        key = {"method": line.method, "n": line.n, "sets": line.n_replicates}
        error, its_mcse = 1.0 - line.coverage, line.coverage_mcse
        lines.append(key | {"measure": "type I error", "value": error, "mcse": its_mcse})
        if line.method == "k-fold-t":
            missing, its_mcse = 1.0 - line.se_ratio**2, 2.0 * line.se_ratio * line.se_ratio_mcse
            lines.append(key | {"measure": "missing share of variance", "value": missing, "mcse": its_mcse})
    before = pd.read_csv(MEASURED)
    new = pd.DataFrame(lines, columns=before.columns)
    kept = before[~before["n"].isin(new["n"])]
    pd.concat([kept, new]).to_csv(MEASURED, index=False, float_format="%.4g")


def main() -> None:
    """Renew the files of the stores that are there."""
    folder = Path(sys.argv[1])
    for name in ("laber-murphy-2011", "grandvalet-bengio-large"):
        if (store := folder / f"{name}.sqlite").exists():
            export(store)
    if (store := folder / "grandvalet-bengio-large.sqlite").exists():
        measure(store)
    if (store := folder / "nadeau-bengio").exists():
        program = EVIDENCE / "nadeau-bengio" / "run.py"
        subprocess.run([sys.executable, program, "summary", store], check=True)


if __name__ == "__main__":
    main()
