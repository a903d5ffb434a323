"""Options that say what is bounded, and what is made of them for the package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from cudbound.cli.inputs.assignments import number_or_nan, parse_assignments
from cudbound.cli.inputs.common_options import together
from cudbound.inputs.csv_file import quoted

if TYPE_CHECKING:
    from cudbound.cli.inputs.fitted import FittedClassifier
    from cudbound.metrics.asked import Metrics


def names(context: click.Context, param: click.Parameter, text: str) -> tuple[str, ...]:
    """Return the names of metrics; refuse others, with what to use instead."""
    from cudbound.metrics.asked import NAMES, check_name

    found = tuple(filter(None, (part.strip() for part in text.split(","))))
    if not found:
        raise click.BadParameter(f"name one or more of {', '.join(NAMES)}, separated by commas.")
    for name in found:
        try:
            check_name(name)
        except ValueError as error:
            raise click.BadParameter(str(error).removeprefix("The 'metric' parameter ")) from error
    return found


def costs(context: click.Context, param: click.Parameter, assigned: tuple[str, ...]) -> dict[str, float]:
    """Return the cost of a wrong case by the text of its true class."""
    try:
        found = parse_assignments(assigned, form="VALUE=COST, such as yes=5")
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    numbers = {value: number_or_nan(text) for value, text in found.items()}
    for value, number in numbers.items():
        if not 0.0 <= number < 1e100:
            raise click.BadParameter(f"the cost of {quoted(value)} must be a number of at least 0.")
    return numbers


def prevalence(context: click.Context, param: click.Parameter, text: str | None) -> float | str | None:
    """Return a share strictly between 0 and 1, ``sample``, or None."""
    if text is None or text == "sample":
        return text
    number = number_or_nan(text)
    if not 0.0 < number < 1.0:
        raise click.BadParameter(f"{text!r} is neither a number strictly between 0 and 1 nor sample.")
    return number


metric_options = together(
    click.option(
        "--metric",
        callback=names,
        default="error",
        metavar="NAME,NAME,...",
        help="What is bounded: error, sensitivity, specificity, balanced-error, cost, ppv, npv; several "
        "share draws and refits.",
    ),
    click.option(
        "--joint",
        is_flag=True,
        help="Let the intervals of each method hold together for all metrics, at the level.",
    ),
    click.option(
        "--cost",
        "costs",
        multiple=True,
        callback=costs,
        metavar="VALUE=COST",
        help="For the metric cost: what a wrong case with this value of the target costs. Once for each value.",
    ),
    click.option(
        "--prevalence",
        callback=prevalence,
        metavar="FLOAT|sample",
        help="For ppv and npv: share of events among those whom they are for; sample takes that of the file.",
    ),
)


def make_metrics(
    fitted: FittedClassifier,
    metric: tuple[str, ...],
    costs: Mapping[str, float],
    prevalence: float | str | None,
    joint: bool,
) -> Metrics:
    """Return what the package takes as ``metric=``.

    Raises
    ------
    ValueError
        If the options do not fit each other or the values of the target; the message names them.
    """
    from cudbound.metrics.asked import Metrics

    event = fitted.event
    (other,) = [label for label in fitted.estimator.classes_.tolist() if label != event]
    by_label: dict[Any, float] | None = None
    if "cost" in metric:
        of_text = dict(zip(fitted.sample.classes, (other, event), strict=True))
        if set(costs) != set(of_text):
            wanted = " ".join(f"--cost {value}=NUMBER" for value in of_text)
            raise ValueError(f"--metric cost needs the cost of each value of the target: {wanted}")
        by_label = {of_text[value]: cost for value, cost in costs.items()}
    elif costs:
        raise ValueError("--cost is read by --metric cost alone; leave it out, or ask for that metric")
    predictive = sorted({"ppv", "npv"} & set(metric))
    if predictive and prevalence is None:
        raise ValueError(f"--metric {predictive[0]} needs --prevalence, a number such as 0.1, or sample")
    if prevalence is not None and not predictive:
        raise ValueError("--prevalence is read by --metric ppv and npv alone; leave it out, or ask for them")
    if joint and len(metric) == 1 and not predictive:
        raise ValueError("--joint needs several metrics, such as --metric sensitivity,specificity")
    return Metrics(metric, event=event, costs=by_label, prevalence=prevalence, joint=joint)
