"""The parts of the documentation that are made from the package: ``python docs/made/docs_pages.py`` renews them.

A page marks such a part by ``<!-- generated: NAME -->`` and ``<!-- end -->``; NAME is one of `PARTS`, or "printed" for
what the block before it prints.
"""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import benchmark_pages
import evidence_pages
import finite_sample
import method_cards
import pandas as pd
import recommended_pages
import search_nodes as search_nodes_file
import tutorial_pages
from page_session import GENERATED, run_page
from tabulate import tabulate

from cudbound.cli.demo import example_text
from cudbound.inputs.classifier_recipe import CLASSIFIERS, Family
from cudbound.metrics.metric import METRICS, Metric
from cudbound.study.design_file import template_names, template_text
from cudbound.study.worlds import WORLDS

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *(page for page in (ROOT / "docs").rglob("*.md") if page.name != "registration.md"),
    ]
)

#: The data file on which every command of the documentation runs: what ``cudbound example`` prints.
PATIENTS = example_text()


def markdown_table(rows: list[dict[str, str]]) -> str:
    cells = [{key: value.replace("|", "\\|") for key, value in row.items()} for row in rows]
    return tabulate(cells, headers="keys", tablefmt="pipe", disable_numparse=True)


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
        title = template_text(name).splitlines()[0].removeprefix("# ")
        rows.append({"template": f"`{name}`", "study": title.partition(": ")[0].removesuffix(".")})
    return markdown_table(rows)


def metrics() -> str:
    rows = [
        (f'`"{name}"`', averaged(one), "one minus it" if one.complement else "itself")
        for name, one in METRICS.items()
    ]
    rows += [
        (
            '`"net-benefit"`',
            "a false alarm at the odds of the threshold: [net benefit](#net-benefit)",
            "prevalence minus it",
        ),
        (
            '`"cost"`',
            "over all cases, each wrong one at the cost of its true class",
            "in units of cost, from 0 to the largest",
        ),
        (
            '`"ppv"`, `"npv"`',
            "none: [from limits of sensitivity and specificity](#predictive-values-and-likelihood-ratios)",
            "",
        ),
        (
            '`"lr+"`, `"lr-"`',
            "none: from [joint limits of both](#predictive-values-and-likelihood-ratios)",
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
    """One row per world; one of the class of an earlier world shows only what differs from that."""
    first: dict[Any, tuple[str, dict[str, Any]]] = {}
    rows = []
    for name, world in WORLDS.items():
        kind = getattr(world, "func", world)
        values = {key: each.default for key, each in inspect.signature(world).parameters.items()}
        classes, like = "", ""
        if kind in first:
            other, usual = first[kind]
            like = f"as `{other}`, with "
            values = {key: value for key, value in values.items() if value != usual[key]}
        else:
            first[kind] = name, values
            classes = str(inspect.getdoc(kind)).splitlines()[0]
        parameters = like + ", ".join(f"`{key} = {value}`" for key, value in values.items())
        rows.append({"`world`": f"`{name}`", "classes": classes, "parameters": parameters})
    return markdown_table(rows)


def classifiers() -> str:
    def code(family: Family) -> str:
        fixed = ", ".join(f"{key}={value!r}" for key, value in family.fixed.items())
        return f"`{family.module}.{family.class_name}({fixed})`"

    return markdown_table(
        [{"`--classifier`": f"`{name}`", "class": code(family)} for name, family in CLASSIFIERS.items()]
    )


EVIDENCE = ROOT / "docs" / "evidence"
#: Coverage in populations where two-center fails however large n is; `tests/test_theory.py` computes it again.
THEORY = EVIDENCE / "theory.csv"


def theory_coverage() -> str:
    """Where two-center fails however large n is: by calculation in the limit, and by simulation at the sizes given."""
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
    **evidence_pages.PARTS,
    **tutorial_pages.PARTS,
    **method_cards.PARTS,
    **benchmark_pages.PARTS,
    "theory-coverage": theory_coverage,
    "guarantees": guarantees,
    "search-nodes": search_nodes,
    "against-others": against_others,
    "study-templates": study_templates,
    "metrics": metrics,
    "study-worlds": study_worlds,
    "classifiers": classifiers,
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
