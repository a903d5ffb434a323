"""The parts of the documentation that are made from the package: ``python docs/made/docs_pages.py`` renews them.

A page marks such a part by ``<!-- generated: NAME -->`` and ``<!-- end -->``; NAME is one of `PARTS`, or "printed" for
what the block before it prints.
"""

from __future__ import annotations

import csv
import inspect
import re
import tempfile
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import finite_sample
import method_cards
import new_cases_pages
import pandas as pd
import recommended_pages
import search_nodes as search_nodes_file
import tutorial_pages
from page_session import GENERATED, run_page
from sizes_of_tests import methods_by_size, numbered_cells, sizes_in_cells
from tabulate import tabulate

from cudbound.adapters import REFUSALS
from cudbound.analysis.from_records import NAME_OF
from cudbound.cli.demo import example_text
from cudbound.inputs.classifier_recipe import CLASSIFIERS, Family
from cudbound.intervals import METHODS
from cudbound.metrics.metric import METRICS, Metric
from cudbound.point_estimates import ESTIMATORS
from cudbound.records import FoldLosses, RepeatedFoldLosses, TestSetLosses
from cudbound.study.design.design_file import template_names, template_text
from cudbound.study.populations.worlds import WORLDS

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *(page for page in (ROOT / "docs").rglob("*.md") if page.name != "registration.md"),
    ]
)

#: The fields of `cudbound.records.Records` that an object of each class can fill.
SEVERAL_FIELDS = {
    TestSetLosses: ("test_set", "second_test_set"),
    FoldLosses: ("folds", "leave_one_out"),
    RepeatedFoldLosses: ("repeated_folds", "stratified_folds"),
}
RECORDED = {kind: SEVERAL_FIELDS.get(kind, (name,)) for kind, name in NAME_OF.items()}

#: The data file on which every command of the documentation runs: what ``cudbound example`` prints.
PATIENTS = example_text()


def markdown_table(rows: list[dict[str, str]]) -> str:
    cells = [{key: value.replace("|", "\\|") for key, value in row.items()} for row in rows]
    return tabulate(cells, headers="keys", tablefmt="pipe", disable_numparse=True)


def recorded_losses() -> str:
    """The classes of `cudbound.records`, what they hold, and the methods that read the field they fill."""
    rows = []
    for kind, needs in RECORDED.items():
        readers = [
            m.name
            for m in (*METHODS.values(), *ESTIMATORS.values())
            if {kind.name for kind in m.may_need} & set(needs)
        ]
        rows.append(
            {
                "class": f"`{kind.__name__}`",
                "contents": (kind.__doc__ or "").splitlines()[0],
                "read by": ", ".join(f"`{name}`" for name in dict.fromkeys(readers)),
            }
        )
    return markdown_table(rows)


def cells_worst_first(path: Path, method: str = "two-center") -> str:
    """The cells of one method in a ``cells.csv`` of the evidence, that of the lowest coverage first."""
    with path.open(newline="") as file:
        cells = [one for one in csv.DictReader(file) if one["method"] == method]
    return markdown_table(
        [
            {
                "cell": one["scenario"],
                "population": one["world"],
                "classifier": one["classifier"],
                "n": one["n"],
                "p": one["p"],
                "rank": one["rank"].removesuffix(".0"),
                "sets": one["sets"],
                "coverage": f"{float(one['coverage']):.3f} ± {float(one['mcse']):.3f}",
                "truth below, above": f"{float(one['missed_low']):.3f}, {float(one['missed_high']):.3f}",
                "width": f"{float(one['width']):.3f}" if one["width"] else "",
                "reaches .95": "yes" if one["keeps_level"] == "True" else "**no**",
            }
            for one in sorted(cells, key=lambda one: (float(one["coverage"]), one["scenario"], int(one["n"])))
        ]
    )


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


#: The intervals of the AUC that the README compares, and the software that prints them.
OTHERS = {
    "out-of-bag-percentile": "",
    "cvauc": "R: `cvAUC`",
    "abcloc": "R: `rms::validate`",
    "location-shifted": "R: `pminternal`, `predboot`",
    "delong-training": "R: `pROC`, Python: `confidenceinterval`, given the training rows",
}


def against_others() -> str:
    """How often the intervals for the AUC that other software prints covered, over all cells of one study."""
    cells = pd.read_csv(EVIDENCE / "two-center-auc" / "cells.csv").groupby("method")
    rows = []
    for name, software in OTHERS.items():
        of_method = cells.get_group(name)
        rows.append(
            {
                "interval": f"`{name}`",
                "also in": software,
                "lowest coverage": f"{of_method['coverage'].min():.3f}",
                "median": f"{of_method['coverage'].median():.3f}",
                "reaches 95% in": f"{of_method['keeps_level'].sum()} of {len(of_method)}",
            }
        )
    return markdown_table(rows)


def study_templates() -> str:
    rows = []
    for name in template_names():
        text = template_text(name)
        design = tomllib.loads(text)
        scenarios = design["scenario"]
        sizes, planned = (
            {n for one in scenarios for n in listed(one.get(key, design[key]))}
            for key in ("n_samples", "n_replicates")
        )
        rows.append(
            {
                "template": f"`{name}`",
                "description": text.splitlines()[0].removeprefix("# "),
                "scenarios": str(len(scenarios)),
                "n": ", ".join(map(str, sorted(sizes))),
                "replicates": " to ".join(map(str, sorted({min(planned), max(planned)}))),
            }
        )
    return markdown_table(rows)


def metrics() -> str:
    rows = [
        (f'`"{name}"`', averaged(one), "one minus it" if one.complement else "itself")
        for name, one in METRICS.items()
    ]
    rows += [
        (
            '`"net-benefit"`',
            "a false alarm at the odds of the threshold: [net benefit](clinical_metrics.md)",
            "prevalence minus it",
        ),
        (
            '`"cost"`',
            "over all cases, each wrong one at the cost of its true class",
            "in units of cost, from 0 to the largest",
        ),
        (
            '`"ppv"`, `"npv"`',
            "none: [from limits of sensitivity and specificity](clinical_metrics.md)",
            "",
        ),
        (
            '`"lr+"`, `"lr-"`',
            "none: from [joint limits of both](clinical_metrics.md#likelihood-ratios)",
            "ratios from 0 up",
        ),
    ]
    return markdown_table(
        [dict(zip(("`metric=`", "mean loss", "reported as"), row, strict=True)) for row in rows]
    )


def averaged(metric: Metric) -> str:
    """Return what the mean loss of a metric is over, in words."""
    if metric.reads != "classes":
        return "none: compares pairs" if metric.reads == "scores" else "of squared errors, over all cases"
    if metric.shares is None:
        return "over all cases"
    parts = [(share, of) for share, of in zip(metric.shares, ("non-events", "events"), strict=True) if share]
    if len(parts) == 1:
        return f"over the {parts[0][1]}"
    return ", ".join(
        f"{'half' if s == 0.5 else format(s, '.3g')} of that over the {of}" for s, of in reversed(parts)
    )


def study_worlds() -> str:
    parameters, name_of = {}, {}
    for name, world in WORLDS.items():
        if (kind := getattr(world, "func", world)) in name_of:
            like, values = f"as `{name_of[kind]}`, with ", world.keywords
        else:
            name_of[kind] = name
            signature = inspect.signature(world).parameters
            like, values = "", {key: parameter.default for key, parameter in signature.items()}
        parameters[name] = like + ", ".join(f"`{key} = {value}`" for key, value in values.items())
    return markdown_table(
        [
            {
                "`world`": f"`{name}`",
                "classes": str(inspect.getdoc(getattr(world, "func", world))).splitlines()[0],
                "parameters": parameters[name],
            }
            for name, world in WORLDS.items()
        ]
    )


def classifiers() -> str:
    def code(family: Family) -> str:
        fixed = ", ".join(f"{key}={value!r}" for key, value in family.fixed.items())
        return f"`{family.module}.{family.class_name}({fixed})`"

    return markdown_table(
        [{"`--classifier`": f"`{name}`", "class": code(family)} for name, family in CLASSIFIERS.items()]
    )


def refusals() -> str:
    return markdown_table(
        [
            {
                "estimator": ", ".join(f"`{name}`" for name in refusal.family),
                "reason: it ...": refusal.reason,
                "remedy": refusal.remedy,
            }
            for refusal in REFUSALS
        ]
    )


EVIDENCE = ROOT / "docs" / "evidence"
#: Coverage in populations where two-center fails at every n; `tests/test_theory.py` computes it again.
THEORY = EVIDENCE / "theory.csv"
#: Studies whose cells are kept as they were published.
EARLIER = sorted(path.stem for path in (EVIDENCE / "earlier").glob("*.csv"))


def earlier_cells(study: str) -> str:
    """Coverage and width in every cell of an earlier study, that of the first method's lowest coverage first."""
    with (EVIDENCE / "earlier" / f"{study}.csv").open(newline="") as file:
        reader = csv.DictReader(file)
        keys = (reader.fieldnames or [])[: -len(("method", "coverage", "width", "keeps_level"))]
        cells: dict[tuple[str, ...], list[dict[str, str]]] = {}
        for one in reader:
            cells.setdefault(tuple(one[key] for key in keys), []).append(one)
    return markdown_table(
        [
            dict(zip(keys, cell, strict=True))
            | {
                one["method"]: f"{one['coverage']} / {one['width']}"
                + ("" if one["keeps_level"] == "True" else " \\*")
                for one in found
            }
            for cell, found in sorted(cells.items(), key=lambda item: float(item[1][0]["coverage"]))
        ]
    )


def earlier_methods(study: str) -> str:
    """The methods of an earlier study over its stored lines, that of the lowest coverage first.

    Its two-center is an earlier form, and is left out.
    """
    lines = pd.read_csv(EVIDENCE / "earlier" / f"{study}.csv")
    lines = lines[~lines["method"].str.startswith("two-center")]
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
    return markdown_table(sorted(rows, key=lambda row: (row["lowest coverage"], row["method"])))


def methods_worst_first(study: str) -> str:
    """All methods of a study over its cells, that of the smallest coverage first, without a former two-center."""
    cells = pd.read_csv(EVIDENCE / study / "cells.csv").query("method != 'two-center'")
    found = cells.groupby("method").agg(
        smallest=("coverage", "min"),
        middle=("coverage", "median"),
        kept=("keeps_level", "mean"),
        width=("width", "mean"),
    )
    return markdown_table(
        [
            {
                "method": f"`{name}`",
                "lowest coverage": f"{one.smallest:.3f}",
                "median coverage": f"{one.middle:.3f}",
                "share of cells that reach .95": f"{one.kept:.2f}",
                "mean width": f"{one.width:.3f}",
            }
            for name, one in found.sort_values(["smallest", "middle"]).iterrows()
        ]
    )


def intervals_of_paper2008() -> str:
    """The seven intervals over the cells of paper2008, that of the lowest coverage first."""
    tables = (
        pd.read_csv(EVIDENCE / "paper2008" / f"{name}.csv") for name in ("coverage", "width", "shortest")
    )
    coverage, widths, shortest = tables
    by_cell = widths.pivot(index=["scenario", "n"], columns="method", values="mean width")
    ratios = by_cell.div(by_cell["cud"], axis=0).mean()
    worst = coverage.loc[coverage.groupby("method")["coverage"].idxmin()].sort_values("coverage")
    return markdown_table(
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


def former_rule() -> str:
    """What the form of two-center that was recommended before covered, one line per study."""
    rows = []
    for line in pd.read_csv(EVIDENCE / "former_rule.csv").itertuples():
        rows.append(
            {
                "study": line.study,
                "cells": str(line.cells),
                "reached 95%": str(line.reached),
                "lowest coverage": f"{line.lowest:.3f}: {line.lowest_in}",
                "median": f"{line.median:.3f}",
                "width / from n new cases": ""
                if pd.isna(line.width_over_new)
                else f"{line.width_over_new:.2f}",
            }
        )
    return markdown_table(rows)


def theory_coverage() -> str:
    """Where two-center fails at every n: by calculation in the limit, and by simulation at the sizes that are given."""
    rows = []
    for line in pd.read_csv(THEORY, dtype=str, keep_default_na=False).to_dict("records"):
        size = {"n": line.pop("n") or "in the limit", "slope times √n": line.pop("slope")}
        rows.append({"population": line.pop("world")} | size | line)
    return markdown_table(rows)


def guarantees() -> str:
    """Upper limits that hold for every population, as in the picture."""
    return markdown_table(
        [{"what": what, "upper limit": f"{limit:.2f}"} for what, limit in finite_sample.limits().items()]
    )


def search_nodes() -> str:
    """Nodes of the exact search, for one quantile and for every draw."""
    return markdown_table(pd.read_csv(search_nodes_file.FILE, dtype=str).to_dict("records"))


PARTS: dict[str, Callable[[], str]] = {
    **recommended_pages.PARTS,
    **new_cases_pages.PARTS,
    **tutorial_pages.PARTS,
    **method_cards.PARTS,
    "former-rule": former_rule,
    "theory-coverage": theory_coverage,
    "guarantees": guarantees,
    "search-nodes": search_nodes,
    "against-others": against_others,
    "confirmation-methods": partial(methods_worst_first, "two-center-confirmation"),
    "paper2008-methods": intervals_of_paper2008,
    "auc-methods": partial(methods_worst_first, "two-center-auc"),
    "brier-methods": partial(methods_worst_first, "two-center-brier"),
    "sizes-of-tests": lambda: markdown_table(methods_by_size()),
    "cells-of-tests": lambda: markdown_table(numbered_cells()),
    "sizes-in-cells": lambda: markdown_table(sizes_in_cells()),
    "net-benefit-again-cells": partial(cells_worst_first, EVIDENCE / "net-benefit-again" / "cells.csv"),
    "ratio-cells": partial(cells_worst_first, EVIDENCE / "ratios-and-net-benefit" / "cells.csv"),
    "several-classes-methods": partial(methods_worst_first, "several-classes"),
    "other-intervals-methods": partial(methods_worst_first, "other-intervals"),
    "earlier-paper2008-seven": partial(earlier_cells, "paper2008-seven"),
    **{f"methods-{name}": partial(earlier_methods, name) for name in EARLIER if name != "paper2008-seven"},
    "recorded-losses": recorded_losses,
    "study-templates": study_templates,
    "metrics": metrics,
    "study-worlds": study_worlds,
    "classifiers": classifiers,
    "refusals": refusals,
}


def renewed(text: str) -> str:
    """Return the page with every generated part made anew, but what its own blocks print."""

    def part(match: re.Match[str]) -> str:
        if match["part"] == "printed":
            return match[0]
        return f"{match['begin']}{PARTS[match['part']]()}\n{match['end']}"

    return GENERATED.sub(part, text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(renewed(page.read_text()))
        if "<!-- generated: printed -->" in page.read_text():
            with tempfile.TemporaryDirectory() as folder:
                page.write_text(run_page(page, Path(folder)))
