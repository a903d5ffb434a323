"""All registered intervals, tests and point estimators, as a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudbound.analysis.caller_splits import filled_by_folds, takes_groups_apart
from cudbound.basis.calls import public_call
from cudbound.basis.method_card import MethodCard
from cudbound.intervals import GROUPS, METHODS, Method
from cudbound.point_estimates import ESTIMATORS

if TYPE_CHECKING:
    import pandas as pd


@public_call
def available_methods() -> pd.DataFrame:
    """Return all methods of this package, one per row, with their properties.

    Returns
    -------
    pandas.DataFrame
        Indexed by name: ``available_methods().loc["two-center"]`` is one method. Columns of text:

        - ``name``: its name in ``methods=`` and ``method=``;
        - ``gives``: "interval" (`cudbound.compare_intervals`), "comparison" (`cudbound.compare_learners`), both, or
          "point estimate" (`cudbound.estimate_error`);
        - ``title``, ``formula``, ``estimand``, ``assumptions``, ``tendency``, ``reference``: description, formula,
          target, assumptions, when it is known to be too short, too long, too low or too high, and source;
        - ``groups``: names of the groups that contain it;
        - ``needs``: the records that it needs, fields of `cudbound.records.Records`;
        - ``reads``: the outputs that it evaluates: "classes", "scores" for the AUC, "probabilities" for the Brier
          score;
        - ``cost``: classifier fits, in B bootstrap draws and the numbers of `cudbound.Resampling`;
        - ``options``: the default of each option, and its other values;
        - ``with_groups``: how rows in groups are handled, see `cudbound.basis.method_card.MethodCard`: "kept" together,
          "refits" if the limits count them as independent, or "no" if the method cannot keep them together.

    Examples
    --------
    >>> from cudbound import available_methods
    >>> frame = available_methods()
    >>> frame.loc["mcnemar", "gives"], frame.loc["cud", "estimand"]
    ('comparison', 'conditional')
    """
    import pandas as pd

    rows = [row_of(method) for method in (*METHODS.values(), *ESTIMATORS.values())]
    return pd.DataFrame(rows, index=[row["name"] for row in rows])  # without a name, which a column has


def row_of(method: MethodCard) -> dict[str, str]:
    """Return the columns of `available_methods` for one method, or for its form for other metrics."""
    gives, groups = "point estimate", "all"
    if isinstance(method, Method):
        given = {"interval": method.gives_interval, "comparison": method.compares}
        gives = " and ".join(what for what, is_given in given.items() if is_given)
        groups = ", ".join(group for group, names in GROUPS.items() if method.name in names)
    return {
        "name": method.name,
        "gives": gives,
        "title": method.title,
        "formula": method.formula,
        "estimand": str(method.estimand),
        "groups": groups,
        "needs": ", ".join(kind.name for kind in sorted(method.needs)),
        "reads": ", ".join((method.reads, *method.variants)),
        "assumptions": method.assumptions,
        "tendency": method.tendency,
        "reference": method.sources,
        "cost": method.cost,
        "options": "; ".join(f"{name}: {option}" for name, option in method.options.items()),
        "with_groups": "no" if takes_groups_apart(method, filled_by_folds) else method.with_groups,
    }
