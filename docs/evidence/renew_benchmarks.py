"""Renew the benchmarks of others from their stores: ``python docs/evidence/renew_benchmarks.py FOLDER``.

FOLDER has stores such as ``schulz-kuempel.sqlite``, or some of them; a run may be writing to them. Cells with fewer
than 100 sets are left out, as registered. The cells, the tables of the documentation and the picture are made anew; the
sentences about them are not.
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
DESIGNS = (
    "schulz-kuempel",
    "schulz-kuempel-nested",
    "schulz-kuempel-brier",
    "schulz-kuempel-forests",
    "bates",
    "bates-high-dimensional",
    "intervals-of-others",
    "tuned-classifiers-of-others",
    "tuned-classifiers-of-others-slow",
)
#: A cell with fewer sets is not published.
FEWEST_SETS = 100
#: The method whose rows are kept; the cells have all methods.
KEPT = "two-center"
CELL = ["scenario", "n", "method"]


def export(store: Path) -> None:
    """Write the cells of a store with enough sets, also as judged by each method's own target, and some rows."""
    files = evidence(store, {KEPT})
    del files["design.json"]  # the template of the package is the design
    own = summarize(store).cells[[*CELL, "coverage_of_expected"]]
    cells = pd.read_csv(io.StringIO(str(files["cells.csv"]))).merge(own, on=CELL, how="left")
    cells = cells[cells["sets"] >= FEWEST_SETS]
    if cells.empty:
        return
    files["cells.csv"] = cells.to_csv(index=False, float_format="%.6g")
    if (cells["method"] == KEPT).any():
        rows = pd.read_csv(io.BytesIO(gzip.decompress(bytes(files["rows.csv.gz"]))), dtype=str)
        kept = set(zip(cells["scenario"], cells["n"].astype(str), strict=True))
        rows = rows[[key in kept for key in zip(rows["scenario"], rows["n"], strict=True)]]
        files["rows.csv.gz"] = gzip.compress(rows.to_csv(index=False).encode(), mtime=0)
    else:
        del files["rows.csv.gz"]
    folder = EVIDENCE / store.stem
    folder.mkdir(exist_ok=True)
    write_texts({folder / name: text for name, text in files.items()})


def main() -> None:
    """Renew the files of the stores that are there, then what is made of them."""
    for design in DESIGNS:
        if (place := Path(sys.argv[1]) / f"{design}.sqlite").exists():
            export(place)
    made = EVIDENCE.parent / "made"
    subprocess.run([sys.executable, made / "docs_pages.py"], check=True)
    pictures = EVIDENCE.parent / "pictures"
    subprocess.run([sys.executable, made / "explained_pictures.py", pictures], check=True)


if __name__ == "__main__":
    main()
