"""The tables of docs/evidence except those of the confirmation, from the stored results in its folders.

The tables of a page are short: what a page leaves out is in the files that it links.
"""

from __future__ import annotations

import runpy
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import recommended_pages
from recommended_pages import as_used, table
from sizes_of_tests import in_words, methods_by_size

from cudbound.study.design_file import template_text

EVIDENCE = Path(__file__).parents[2] / "docs" / "evidence"

# ---- intervals of the error, the AUC and the Brier score, over all cells of the studies ----

#: Studies of the error with other intervals than the recommended one.
STUDIES = ("two-center-confirmation", "other-intervals", "several-classes")
#: Those whose cells are kept as they were published.
EARLIER = (
    *("where-intervals-break", "paper2008", "logistic-regression"),
    *("decision-trees", "random-forests", "tuned-ridge"),
)
SHOWN = ["scenario", "n", "method", "coverage", "keeps_level", "width"]


def cells_of(study: str, metric: str = "error") -> pd.DataFrame:
    """The cells of a study, without the forms of two-center that it had."""
    cells = pd.read_csv(EVIDENCE / study / "cells.csv")
    return cells[(cells["metric"] == metric) & ~cells["method"].str.startswith("two-center")]


def cells_of_the_error() -> pd.DataFrame:
    """The cells of all studies of the error, and the two forms of two-center in those of the confirmation."""
    confirmation = as_used(recommended_pages.read()).rename(columns={"cell": "scenario"})
    earlier = [pd.read_csv(EVIDENCE / "earlier" / f"{name}.csv") for name in EARLIER]
    cells = pd.concat(
        [
            confirmation[confirmation["metric"] == "error"],
            *map(cells_of, STUDIES),
            *(lines[~lines["method"].str.startswith("two-center")] for lines in earlier),
        ]
    )
    return cells[SHOWN].astype({"keeps_level": bool}).reset_index(drop=True)


def intervals_worst_first(cells: pd.DataFrame) -> str:
    """Every interval over its cells, the lowest coverage first."""
    rows = []
    for name, of_method in cells.groupby("method"):
        worst = of_method.loc[of_method["coverage"].idxmin()]
        rows.append(
            {
                "interval": recommended_pages.shown(str(name)),
                "cells": str(len(of_method)),
                "reached 95%": str(int(of_method["keeps_level"].sum())),
                "lowest coverage": f"{worst['coverage']:.3f}: {named(worst)}",
                "median": f"{of_method['coverage'].median():.3f}",
                "mean width": f"{of_method['width'].mean():.3f}",
            }
        )
    return table(sorted(rows, key=lambda row: (row["lowest coverage"][:5], row["median"])))


def named(cell: Any) -> str:
    """The name of a cell with its n, unless it has it."""
    return cell["scenario"] if "n = " in cell["scenario"] else f"{cell['scenario']}, n = {cell['n']}"


def earlier_methods(study: str, *, two_center: bool = False) -> str:
    """The methods of an earlier study over its stored lines, that of the lowest coverage first.

    Its two-center is an earlier form, which has a table of its own.
    """
    lines = pd.read_csv(EVIDENCE / "earlier" / f"{study}.csv")
    lines = lines[lines["method"].str.startswith("two-center") == two_center]
    keys = lines.columns[: lines.columns.get_loc("method")]
    rows = []
    for name, of_method in lines.groupby("method"):
        worst = of_method.loc[of_method["coverage"].idxmin()]
        where = ", ".join(f"n = {worst[key]}" if key == "n" else worst[key] for key in keys)
        rows.append(
            {
                "method": f"`{name.split(', ')[0]}`"
                + "".join(f", {one} groups" for one in name.split(", ")[1:]),
                f"level missed, of {len(of_method)}": str((~of_method["keeps_level"]).sum()),
                "lowest coverage": f"{worst['coverage']:.3f}",
                "where": where,
                "mean width": f"{of_method['width'].mean():.3f}",
            }
        )
    return table(sorted(rows, key=lambda row: (row["lowest coverage"], row["method"])))


# ---- the form recommended before, and studies that are only of it ----


def former_rule() -> str:
    """What the form of two-center that was recommended before reached in its own studies."""
    lines = pd.read_csv(EVIDENCE / "former_rule.csv").set_index("study")
    parts = [
        f"{study}: {line['reached']} of {line['cells']}, lowest coverage {line['lowest']:.3f} ({line['lowest_in']})"
        for study, line in lines.iterrows()
        if line["reached"] < line["cells"]
    ]
    kept = int((lines["reached"] == lines["cells"]).sum())
    return (
        f"It reached its level in all cells of {kept} of its {len(lines)} studies. In the others, cells reached: "
        + "; ".join(parts)
        + "."
    )


def ratios() -> str:
    """The cells of likelihood ratios and net benefit together: reached, lowest, without an upper limit."""
    cells = pd.read_csv(EVIDENCE / "ratios-and-net-benefit" / "cells.csv").query("method == 'two-center'")
    rows = []
    for metric, some in cells.groupby("metric"):
        worst = some.loc[some["coverage"].idxmin()]
        rows.append(
            {
                "metric": str(metric),
                "cells": str(len(some)),
                "sets": str(worst["sets"]),
                "reached 95%": str(int(some["keeps_level"].sum())),
                "lowest coverage": f"{worst['coverage']:.3f} ± {worst['mcse']:.3f}: {named(worst)}",
            }
        )
    again = pd.read_csv(EVIDENCE / "net-benefit-again" / "cells.csv").query("method == 'two-center'")
    worst = again.loc[again["coverage"].idxmin()]
    rows.append(
        {
            "metric": "net-benefit, lowest cells in new sets",
            "cells": str(len(again)),
            "sets": str(worst["sets"]),
            "reached 95%": str(int(again["keeps_level"].sum())),
            "lowest coverage": f"{worst['coverage']:.3f} ± {worst['mcse']:.3f}: {named(worst)}",
        }
    )
    return table(sorted(rows, key=lambda row: row["lowest coverage"]))


# ---- training data and new cases in one interval ----

#: Sets that were registered, training rows and numbers of new cases.
REGISTERED = 19 * 300
METRICS = {
    "error": "error",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "auc": "AUC",
    "brier": "Brier score",
}
SHIFTED = "shifted: "
#: The shift that leaves nothing of the signal.
NO_SIGNAL = f"{SHIFTED}no signal"


def pooled_cells(name: str = "cells.csv") -> pd.DataFrame:
    """The cells with new cases of the same population."""
    cells = pd.read_csv(EVIDENCE / "new-cases" / name)
    return cells[~cells["setting"].str.startswith(SHIFTED)]


def pooled_progress() -> str:
    cells = pd.read_csv(EVIDENCE / "new-cases" / "cells.csv")
    drawn = (cells["sets"] + cells["without_interval"]).groupby(cells["setting"]).max()
    if drawn.sum() >= REGISTERED:
        return f"All {REGISTERED:,} registered sets have run."
    how_many = f"{drawn.sum():,} of {REGISTERED:,} registered sets have run"
    return f"**The run was stopped early: {how_many}**, at least {drawn.min()} of each setting."


def pooled_in_short() -> str:
    """One line per metric: lowest coverage, that in the sets of the repetition, widths."""
    rows = []
    key = ["setting", "m", "metric"]
    missed = pooled_cells().query("not keeps_level")[key].merge(pooled_cells("misses.csv"), on=key)
    for metric, title in METRICS.items():
        cells = pooled_cells()[lambda frame, metric=metric: frame["metric"] == metric]
        lowest = cells.loc[cells["coverage"].idxmin()]
        again = missed.loc[missed["metric"] == metric, "coverage"]
        rows.append(
            {
                "metric": title,
                "cells": str(len(cells)),
                "reached 95%": str(int(cells["keeps_level"].sum())),
                "lowest coverage": f"{lowest['coverage']:.3f}: {lowest['setting']}, m = {lowest['m']}",
                "lowest in new sets": "" if again.empty else f"{again.min():.3f}",
                "width / training alone": f"{(cells['width'] / cells['width_training']).mean():.2f}",
                "width / new cases alone": f"{(cells['width'] / cells['width_new']).mean():.2f}",
                "contradicted, at most": f"{cells['contradicted'].max():.3f}",
            }
        )
    return table(sorted(rows, key=lambda row: row["lowest coverage"]))


def pooled_after_a_shift() -> str:
    """What the check and the interval see if nothing of the signal is left among the new cases."""
    cells = pd.read_csv(EVIDENCE / "new-cases" / "cells.csv").query(
        "setting == @NO_SIGNAL and metric == 'error'"
    )
    return table(
        [
            {
                "new cases": str(line.m),
                "error in training, there": f"{line.truth:.3f}, {line.truth_elsewhere:.3f}",
                "contradicted": f"{line.contradicted:.3f}",
                "coverage there": f"{line.coverage_elsewhere:.3f}",
                "if not contradicted": f"{line.coverage_elsewhere_if_not_contradicted:.3f}",
            }
            for line in cells.sort_values("m").itertuples()
        ]
    )


# ---- tests ----

#: Tests that are shown although they did not keep their level in all settings.
KNOWN_TESTS = ("`corrected-resampled-t`", "`resampled-t`", "`5x2cv-t`")


def sizes_of_tests() -> str:
    """The tests that kept their level in all settings, and those that are used most."""
    rows = methods_by_size()
    return table([row for row in rows if row["level kept, of 17"] == "17" or row["test"] in KNOWN_TESTS])


def table_2() -> str:
    """Table 2 of Grandvalet and Bengio (2006): here and published, and the largest difference in standard errors."""
    folder = EVIDENCE / "tests-of-learners"
    key = ["method", "measure", "n"]
    both = pd.read_csv(folder / "measured.csv").merge(pd.read_csv(folder / "published.csv"), on=key)
    published = both["value_y"]
    shares = both["measure"] == "type I error"
    # the published numbers have the error of 10,000 sets; ours of a share is that if theirs is right
    ours = (both["mcse"] ** 2).where(~shares, published * (1.0 - published) / both["sets"])
    both["off"] = (both["value_x"] - published) / (ours * (1.0 + both["sets"] / 10_000)) ** 0.5
    columns = {
        "rho": ("k-fold-t", "missing share of variance"),
        "type I error at rho = 0": ("k-fold-t", "type I error"),
        "at rho = .7": ("grandvalet-bengio-t", "type I error"),
    }
    rows = []
    for n, of_size in both.groupby("n"):
        lines = of_size.set_index(["method", "measure"])
        row = {"n": str(n), "sets": f"{lines['sets'].max():,}"}
        for heading, one in columns.items():
            row[f"{heading}: here, published"] = (
                f"{lines.loc[one, 'value_x']:.3f}, {lines.loc[one, 'value_y']:.3f}"
            )
        row["largest difference, standard errors"] = f"{lines['off'].abs().max():.1f}"
        rows.append(row)
    return table(rows)


def cells_of_2011() -> str:
    """The intervals on the populations that Laber and Murphy (2011) name, and where they missed their level."""
    cells = pd.read_csv(EVIDENCE / "laber-murphy-2011" / "cells.csv")
    rows = []
    for name, some in cells.groupby("method"):
        missed = some[~some["keeps_level"]].sort_values("coverage")
        rows.append(
            {
                "interval": f"`{name}`",
                "cells": str(len(some)),
                "reached 95%": str(int(some["keeps_level"].sum())),
                "lowest coverage": f"{some['coverage'].min():.3f}",
                "median": f"{some['coverage'].median():.3f}",
                "mean width": f"{some['width'].mean():.3f}",
                "missed": "; ".join(f"{named(one)} ({one['coverage']:.3f})" for _, one in missed.iterrows()),
            }
        )
    return table(sorted(rows, key=lambda row: row["lowest coverage"]))


def registered_sets(template: str) -> dict[tuple[str, int], int]:
    """The number of sets of each cell in a design file of the package."""
    design = tomllib.loads(template_text(template))
    return {
        (one.get("name") or one.get("data") or one["world"], n): one.get(
            "n_replicates", design["n_replicates"]
        )
        for one in design["scenario"]
        for n in one.get("n_samples", design["n_samples"])
    }


def progress_of(study: str) -> str:
    """How many of the registered sets of a study of ``study new`` have run, in the cells that are published."""
    registered = registered_sets(study)
    sets = pd.read_csv(EVIDENCE / study / "cells.csv").groupby(["scenario", "n"])["sets"].max()
    if dict(sets) == registered:
        return f"All {sets.sum():,} registered sets have run."
    left_out = len(registered) - len(sets)
    share = f"{sets.sum():,} of {sum(registered.values()):,}"
    return f"**{share} registered sets have run**, at least {sets.min()} in each of {len(sets)} cells" + (
        f". {left_out} cells have fewer than 100, and are left out." if left_out else "."
    )


NADEAU = EVIDENCE / "nadeau-bengio"


def nadeau_progress() -> str:
    """How many of the registered sets of each problem have run."""
    program = runpy.run_path(str(EVIDENCE / "nadeau-bengio" / "run.py"))
    registered = {name: problem.sets for name, problem in program["problems"](Path()).items()}
    sets = pd.read_csv(NADEAU / "cells.csv").groupby("problem")["sets"].max()
    parts = [f"{name}: {sets[name]} of {most}" for name, most in registered.items() if name in sets]
    left_out = [name for name in registered if name not in sets]
    missing = f" Fewer than 100, and left out: {'; '.join(left_out)}." if left_out else ""
    return f"Sets that have run, of those registered. {'; '.join(parts)}.{missing}"


def above(line: Any) -> bool:
    """Whether the size of a test is larger than .10 beyond Monte Carlo error."""
    return line["size"] > 0.1 + 1.645 * (0.09 / line["sets"]) ** 0.5


def sizes_of_nadeau() -> str:
    """The size of every test of the main part, the largest over the problems of a kind; bold above .10.

    With n/2 and with n/10 test rows, if a test has both.
    """
    cells = pd.read_csv(NADEAU / "cells.csv")
    cells = cells[~cells["test"].str.contains("J = ")]
    cells["kind"] = cells["problem"].str.extract(r"^(\w+)", expand=False)
    cells["kind"] += cells["problem"].str.endswith("2000").map({True: ", n = 2000", False: ""})
    cells["name"] = cells["test"].str.replace(r", n/2 \+ .*", "", regex=True)
    rows = []
    for name, of_test in cells.groupby("name", sort=False):
        row = {"test": in_words(str(name))}
        for kind, some in of_test.groupby("kind", sort=False):
            worst = some.loc[some.groupby("test", sort=False)["size"].idxmax()]
            shares = (f"{one['size']:.3f}" for _, one in worst.iterrows())
            row[str(kind)] = ", ".join(
                f"**{share}**" if above(one) else share
                for share, (_, one) in zip(shares, worst.iterrows(), strict=True)
            )
        rows.append((of_test["size"].max(), row))
    headings = ["test", *cells["kind"].unique()]
    ordered = [row for _, row in sorted(rows, key=lambda one: -one[0])]
    return table([{heading: row.get(heading, "") for heading in headings} for row in ordered])


def intervals_of_paper2008() -> str:
    """The seven intervals over the cells of paper2008, that of the lowest coverage first."""
    tables = (
        pd.read_csv(EVIDENCE / "paper2008" / f"{name}.csv") for name in ("coverage", "width", "shortest")
    )
    coverage, widths, shortest = tables
    by_cell = widths.pivot(index=["scenario", "n"], columns="method", values="mean width")
    ratios = by_cell.div(by_cell["cud"], axis=0).mean()
    worst = coverage.loc[coverage.groupby("method")["coverage"].idxmin()].sort_values("coverage")
    return table(
        [
            {
                "method": f"`{one['method']}`",
                f"reaches its level, of {len(by_cell)} cells": str(
                    (coverage.loc[coverage["method"] == one["method"], "keeps level"] == "yes").sum()
                ),
                "shortest that does": str((shortest["shortest of them"] == one["method"]).sum()),
                "lowest coverage": f"{one['coverage']:.3f}",
                "where": f"{one['scenario']}, n = {one['n']}",
                "width / cud": f"{ratios[one['method']]:.2f}",
                "degenerate intervals": str(
                    widths.loc[widths["method"] == one["method"], "degenerate"].sum()
                ),
            }
            for _, one in worst.iterrows()
        ]
    )


PARTS: dict[str, Callable[[], str]] = {
    "intervals-of-the-error": lambda: intervals_worst_first(cells_of_the_error()),
    "auc-methods": lambda: intervals_worst_first(cells_of("two-center-auc", "auc")),
    "brier-methods": lambda: intervals_worst_first(cells_of("two-center-brier", "brier")),
    **{
        f"methods-{name}": partial(earlier_methods, name)
        for name in ("where-intervals-break", "sensitivity-specificity", "grouped-rows")
    },
    "two-center-and-groups": partial(earlier_methods, "grouped-rows", two_center=True),
    "former-rule": former_rule,
    "ratios": ratios,
    "pooled-progress": pooled_progress,
    "pooled-in-short": pooled_in_short,
    "pooled-after-a-shift": pooled_after_a_shift,
    "sizes-of-tests": sizes_of_tests,
    "paper2008-methods": intervals_of_paper2008,
    "table-2": table_2,
    "table-2-progress": partial(progress_of, "grandvalet-bengio-large"),
    "adaptive-progress": partial(progress_of, "laber-murphy-2011"),
    "adaptive": cells_of_2011,
    "nadeau-progress": nadeau_progress,
    "nadeau-sizes": sizes_of_nadeau,
}
