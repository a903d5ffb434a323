"""Warnings and errors, one class per event, so that a script can handle each separately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudbound.basis.parameter_error import ParameterError as ParameterError

if TYPE_CHECKING:
    from cudbound.basis.solved_draws import Draws


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
        Draws that rounding left open.
    half_width : tuple of float or None
        Between which values the half-width of the CUD bound lies; None where the warning is of other bounds.
    method : str
        The interval that uses the bounds: "cud" or "aci".
    """

    n_limited: int = 0
    n_inaccurate: int = 0
    half_width: tuple[float, float] | None = None
    method: str = "aci"


class TuningNotResampledWarning(CudboundWarning):
    """A penalty strength or threshold was chosen on the same data; the CUD bound treats it as fixed in advance.

    The interval then does not include the variation of the choice between training sets.
    """


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
            "fit it with a smaller tol and a larger max_iter, or ask for the exact minimizer (polish)."
        )
        self.residual = residual


class LabelsReadWarning(CudboundWarning):
    """A step before the classifier uses the labels; the CUD bound ignores that selection.

    Attributes
    ----------
    step : str
        The class of the first such step.
    """

    def __init__(self, step: str):
        super().__init__(
            f"{step} uses the labels before the classifier does. The CUD bound treats this step as fixed and "
            "ignores the selection. With 4 of 200 noise features selected, it covered the error in 20 of "
            "100 data sets. Use an interval based on refits, such as 'two-center'."
        )
        self.step = step


class FrozenStepsWarning(CudboundWarning):
    """Parts of the estimator are not refitted, so the resampling does not account for selection in them.

    Attributes
    ----------
    steps : tuple of str
        Those parts.
    """

    def __init__(self, steps: tuple[str, ...]):
        super().__init__(
            f"Refits do not fit {', '.join(steps)} again: the resampling does not account for a selection "
            "made on these rows before, and the interval may be too low. Put the unfitted step into the "
            "pipeline."
        )
        self.steps = steps


class ManyFeaturesWarning(CudboundWarning):
    """The classifier has many features for so few rows: its training error does not show that on new cases.

    The rank of its design exceeds half the number of training rows, or of groups of rows, or, where that does not show,
    there are at least as many features as rows.
    """


class FewEventsWarning(CudboundWarning):
    """A class has too few rows for a useful interval for its metrics.

    Attributes
    ----------
    n_rows : int
        Rows of the smallest class that the metric is based on.
    """

    n_rows: int


class LowUpperLimitWarning(CudboundWarning):
    """An upper limit is lower than the same number of new cases could support, even with no errors.

    Separable classes give such limits: the training rows then show no error, and cannot show how far they mislead.

    Attributes
    ----------
    methods : tuple of str
        The intervals with such a limit.
    limit : float
        The exact binomial upper limit for no error in n new cases.
    """

    methods: tuple[str, ...]
    limit: float


class SampleSizeWarning(CudboundWarning):
    """The number of training rows is outside the range in which intervals were studied, or there are few test cases.

    Attributes
    ----------
    n_samples : int
        The training rows, or the test cases.
    """

    n_samples: int


class TrainingRowsWarning(CudboundWarning):
    """Some test cases are identical to training rows; the error on them is not evidence about new cases.

    Attributes
    ----------
    n_equal : int
        Test cases that equal a training row in every feature and in the label.
    n_tested : int
        All test cases.
    """

    n_equal: int
    n_tested: int


class FewGroupsWarning(CudboundWarning):
    """The groups are too few, or too unequal in size, to show how errors vary between them.

    Attributes
    ----------
    n_groups : int
    n_effective : float
        Kish's number: of groups of equal size that say as much.
    """

    n_groups: int = 0
    n_effective: float = 0.0


class FrequencyWeightsWarning(CudboundWarning):
    """The weights look like numbers of patients; repeat the rows instead.

    Attributes
    ----------
    n_patients : int
        The sum of the weights.
    """

    n_patients: int = 0


class DuplicateRowsWarning(CudboundWarning):
    """More rows are identical, in every feature and in the label, than chance explains.

    Attributes
    ----------
    n_equal : int
        Rows that equal one above them.
    """

    n_equal: int = 0


class SlowRefitsWarning(CudboundWarning):
    """The refits will take long, judging by the first few.

    Attributes
    ----------
    fact : str
        The expected time without a remedy: a command names its own options.
    helps : tuple of str
        Faster alternatives, as Python arguments.
    """

    def __init__(self, fact: str, helps: tuple[str, ...] = ()):
        super().__init__(f"{fact}{'; ' * bool(helps)}{' or '.join(helps)}{' is faster' * bool(helps)}.")
        self.fact = fact
        self.helps = helps


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
    """One refit on a split failed, or more than a tenth of those on bootstrap draws."""


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
        Pass it as ``previous=`` to `cudbound.solve_draws` to resume.
    """

    def __init__(self, draws: Draws, proved: str = ""):
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
