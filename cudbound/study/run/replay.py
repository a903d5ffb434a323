"""Run one stored replicate again."""

from __future__ import annotations

from pathlib import Path

from cudbound.basis.calls import public_call
from cudbound.study.design.scenario import Study
from cudbound.study.run.replicate import alone, run_replicate
from cudbound.study.run.replicate_rows import Key, ReplicateRow
from cudbound.study.run.store import Store


@public_call
def replay(study: Study, store_path: str | Path, scenario: str, n: int, replicate: int) -> ReplicateRow:
    """Run one stored replicate again, a failed one for instance.

    Parameters
    ----------
    study : Study
        The study of the store: the one that was run, with its populations and learners, or
        `cudbound.study.design.design_file.read_design` of its design file.
    store_path : str or path
    scenario : str
        Name of the scenario.
    n : int
        Size of the training set.
    replicate : int
        From 0 up. `StudyStatus.cells` has the first that failed in each cell.

    Returns
    -------
    ReplicateRow
        Equal to ``Store.replicate(Key(scenario, n, replicate))`` with the same versions of all packages on the same
        kind of computer; nothing is stored.

    Raises
    ------
    StudyError
        If the store holds another study, or lacks this replicate.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier, Scenario, Study, replay, run_study
    >>> from cudbound.study.populations.population import Cases, Truth
    >>> class Coin:
    ...     name, title = "coin", "labels without features"
    ...     def draw(self, n, rng):
    ...         return Cases(rng.normal(size=(n, 1)), rng.integers(0, 2, n), lambda classifier: Truth(0.5))
    >>> class Picky(LeastSquaresClassifier):
    ...     def fit(self, X, y):
    ...         if np.mean(y) < 0.4:
    ...             raise ValueError("too few cases of the second class")
    ...         return super().fit(X, y)
    >>> study = Study("quick", (Scenario("coin", Coin(), Picky),), (30,), 9, ("langford-binomial",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (cell,) = run_study(study, Path(folder) / "quick.sqlite").cells
    ...     again = replay(study, Path(folder) / "quick.sqlite", "coin", 30, cell.first_failure.replicate)
    >>> again.failure.splitlines()[-1] == cell.first_failure.reason
    True
    """
    key = Key(scenario, n, replicate)
    with Store.open(store_path) as store:
        store.check_study(study, "undo the change")
        store.replicate(key)
    chosen = next(one for one in study.scenarios if one.name == scenario)
    with alone():
        return run_replicate(study, chosen, n, replicate)
