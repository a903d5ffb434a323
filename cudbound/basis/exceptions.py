"""Errors and warnings, one class per event that a script can handle, and the hints in them.

The command needs this module before anything heavy is loaded, so it imports nothing heavy.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any


class ParameterError(ValueError):
    """An argument is invalid; the message gives its name, the rule and the value.

    Attributes
    ----------
    parameter : str
        Name of the argument.
    rule : str
        The rule, after "must be".
    value : object
        The invalid value.
    hint : str, default=""
        A remedy or the closest valid name, in a sentence after a blank, as from `cudbound.basis.exceptions.suggestion`.
    """

    def __init__(self, parameter: str, rule: str, value: object, hint: str = ""):
        super().__init__(f"The '{parameter}' parameter must be {rule}. Got {value!r} instead.{hint}")
        self.parameter = parameter
        self.rule = rule
        self.value = value
        self.hint = hint

    def __reduce__(self) -> tuple[type, tuple[str, str, object, str]]:
        """Return what pickle needs to rebuild the error in another process."""
        return type(self), (self.parameter, self.rule, self.value, self.hint)


def suggestion(name: object, names: Iterable[str]) -> str:
    """Return a sentence with the closest name, after a blank, or an empty string if no name is close.

    Examples
    --------
    >>> suggestion("two-centre", ["cud", "two-center"])
    " Did you mean 'two-center'?"
    """
    close = _closest(name, names) if isinstance(name, str) else None
    return "" if close is None else f" Did you mean {close!r}?"


def did_you_mean(name: str, names: Iterable[str], otherwise: str) -> str:
    """Return a hint at the closest name, or else `otherwise` and all names.

    Examples
    --------
    >>> did_you_mean("n_fold", ["n_folds", "n_splits"], "the sizes are")
    'did you mean n_folds?'
    """
    names = list(names)
    close = _closest(name, names)
    return f"{otherwise} {', '.join(names)}." if close is None else f"did you mean {close}?"


def _closest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that is most like another one, whatever the case of their letters."""
    folded = {other.casefold(): other for other in names}
    close = difflib.get_close_matches(name.casefold(), folded, n=1)
    return folded[close[0]] if close else None


def install_command(extra: str) -> str:
    """Return the command that installs an extra of this package.

    It names the packages themselves, and so works wherever this one came from: a folder, a wheel or an index.

    Parameters
    ----------
    extra : str
        Such as "models".

    Examples
    --------
    >>> install_command("models").partition(">=")[0]
    "pip install 'skops"
    """
    from importlib.metadata import requires

    marked = re.compile(rf"""\s*([^;]+?)\s*;\s*extra\s*==\s*["']{extra}["']""")
    packages = [match[1] for match in map(marked.fullmatch, requires("cudbound") or ()) if match]
    return f"pip install {' '.join(map(repr, packages))}"


class CudboundWarning(UserWarning):
    """Base class of all warnings in this package; subclasses carry details as attributes."""

    def __init__(self, message: str, **facts: Any):
        super().__init__(message)
        vars(self).update(facts)


class NotCertifiedWarning(CudboundWarning):
    """Some draws were not solved to the required accuracy: upper bounds were used instead of exact values.

    Attributes
    ----------
    n_limited : int
        Draws that a limit on nodes or seconds stopped.
    n_inaccurate : int
        Draws that rounding, or steps that did not end, left open.
    half_width : tuple of float or None
        Between which values the half-width of the CUD bound lies; None where the warning is of other bounds.
    method : str
        The interval that uses the bounds: "cud" or "aci".
    """

    n_limited: int = 0
    n_inaccurate: int = 0
    half_width: tuple[float, float] | None = None
    method: str = "aci"


class UnscaledPenaltyWarning(CudboundWarning):
    """A penalty treats all coefficients alike, but the standard deviations of the features differ greatly.

    Features with small standard deviations are then penalized far more than the others.

    Attributes
    ----------
    fact : str
        The fact without a remedy: a command names its own options.
    """

    def __init__(self, fact: str, remedy: str = ""):
        super().__init__(f"{fact}{remedy}")
        self.fact = fact


class NotMinimizerWarning(CudboundWarning):
    """The fitted coefficients do not minimize the loss on these rows; they have no CUD bound.

    Attributes
    ----------
    residual : float
        Optimality residual.
    """

    def __init__(self, residual: float):
        super().__init__(
            f"The fitted coefficients do not minimize their loss on these rows (residual {residual:.2g}), so "
            "they have no CUD bound. Was the classifier fitted to other rows? If its solver stopped early, "
            "fit it with a smaller tol (SGDClassifier: tol=None) and a larger max_iter, or ask for the exact minimizer "
            "(polish)."
        )
        self.residual = residual


class NotResampledWarning(CudboundWarning):
    """A choice on the same rows is treated as fixed, so the interval does not show how it varies between training sets.

    A penalty strength or a threshold was tuned, a step uses the labels before the classifier does, or refits do not fit
    a part of the estimator again.
    """


class ManyFeaturesWarning(CudboundWarning):
    """The classifier has many features for so few rows: its training error does not show that on new cases.

    The rank of its design exceeds half the number of training rows, or of groups of rows, or, where that does not show,
    there are at least as many features as rows.
    """


class SmallSampleWarning(CudboundWarning):
    """There are few rows, events or groups for an interval, or numbers of rows with which none was studied.

    So it is where an upper limit is lower than as many new cases could support: the training rows then show no error,
    and cannot show how far they mislead.

    Attributes
    ----------
    n_rows : int
        Rows of the smallest class that a metric is based on.
    n_samples : int
        The training rows, or the test cases.
    n_groups : int
        The groups.
    n_effective : float
        Kish's number: of groups of equal size that say as much.
    methods : tuple of str
        The intervals with too low a limit.
    limit : float
        The exact binomial upper limit for no error in n new cases.
    """

    n_rows: int
    n_samples: int
    n_groups: int
    n_effective: float
    methods: tuple[str, ...]
    limit: float


class RepeatedRowsWarning(CudboundWarning):
    """More rows are identical than chance explains, or weights look like numbers of patients.

    An error on test cases that equal training rows is not evidence about new cases.

    Attributes
    ----------
    n_equal : int
        Rows that equal one above them, or a training row, in every feature and in the label.
    n_tested : int
        All test cases.
    n_patients : int
        The sum of the weights.
    """

    n_equal: int
    n_tested: int
    n_patients: int


class SlowRefitsWarning(CudboundWarning):
    """The refits will take long, judging by the first few.

    Attributes
    ----------
    fact : str
        The expected time without a remedy: a command names its own options.
    """

    def __init__(
        self, fact: str, faster: str = "n_jobs=-1, a smaller n_resamples, or Resampling with smaller numbers"
    ):
        super().__init__(f"{fact}. What makes refits faster or fewer: {faster}.")
        self.fact = fact


class WarnedRefitsWarning(CudboundWarning):
    """Refits raised warnings of other packages, such as that a solver did not converge; one warning for all of them.

    Attributes
    ----------
    n_refits : int
        The refits of the call.
    n_warned : int
        Those that warned.
    categories : tuple of str
        The classes of their warnings.
    fact : str
        The warning without a remedy: a command names its own options.
    """

    n_refits: int
    n_warned: int
    categories: tuple[str, ...]
    fact: str

    def __init__(self, fact: str, remedy: str = "", **facts: Any):
        super().__init__(f"{fact}{remedy}.", fact=fact, **facts)


class StatedError(Exception):
    """An error with a separate fact and remedy, so that a command can name its own options.

    Attributes
    ----------
    fact : str
        The problem, in one sentence.
    remedy : str
        The remedy in Python, in full sentences; may be empty.
    """

    def __init__(self, fact: str, remedy: str = ""):
        super().__init__(f"{fact} {remedy}".rstrip())
        self.fact = fact
        self.remedy = remedy


class UnsupportedEstimatorError(StatedError, TypeError):
    """The estimator cannot be written as an additive classifier with a convex surrogate loss."""


class UnsupportedProblemError(StatedError, ValueError):
    """The compiled solver cannot solve the problem; the reference solver may.

    Attributes
    ----------
    why : str
        The reason, in a few words.
    """

    def __init__(self, fact: str, remedy: str = "", *, why: str = ""):
        super().__init__(fact, remedy)
        self.why = why


class FailedRefitsError(StatedError, ValueError):
    """A fit or a prediction failed; of refits on bootstrap draws, more than a tenth."""


class NotMinimizerError(StatedError, ValueError):
    """The fitted coefficients do not minimize the surrogate loss on these data.

    Attributes
    ----------
    residual : float
        Optimality residual; nan if unknown.
    """

    def __init__(self, fact: str, remedy: str = "", *, residual: float = float("nan")):
        super().__init__(fact, remedy)
        self.residual = residual


class NoMinimizerError(NotMinimizerError):
    """The surrogate loss has no minimizer on these data: it keeps decreasing along some direction."""


class SolveInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped the solver; the results so far are kept.

    Attributes
    ----------
    draws : Draws
        Draws that were finished are certified or decided; the others hold bounds and the status ``INTERRUPTED``.
        Pass it as ``previous=`` to `cudbound.solve.solve_draws` to resume.
    """

    def __init__(self, draws: Any, proved: str = ""):
        solved = f"{int(draws.decided.sum())} of {len(draws)} draws solved"
        super().__init__(
            f"stopped with {'; '.join(filter(None, (solved, proved)))}; "
            "pass previous=error.draws to resume from there"
        )
        self.draws = draws


class StudyError(ValueError):
    """A study store cannot be used, or cannot be created; its contents are unchanged."""


class SavedResultError(ValueError):
    """A saved result cannot be written or read; the message gives the reason."""


class StudyInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped a study; finished replicates are in the store.

    Attributes
    ----------
    n_done : int
        Replicates in the store.
    n_total : int
        Replicates of the whole study.
    """

    def __init__(self, store: str, n_done: int, n_total: int):
        super().__init__(
            f"stopped with {n_done} of {n_total} replicates done and stored in {store}; run the same study with the "
            "same store to resume"
        )
        self.n_done = n_done
        self.n_total = n_total
