"""The argument `bound`: settings of the CUD bound."""

from __future__ import annotations

from dataclasses import dataclass, field

from cudbound.basis.calls import public_settings
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_flag, check_localization
from cudbound.solve.limits import SearchLimits


@public_settings
@dataclass(frozen=True, kw_only=True)
class Bound:
    """Settings of the CUD bound.

    Attributes
    ----------
    localization : {"n", "paper-literal"} or float in [0, inf], default="n"
        Localization rate on the scale of the mean loss. "n" is the order derived in section 3 of Laber and Murphy
        (2008). "paper-literal" is n squared, the rate of section 5 if its unscaled loss is read literally; it can give
        an empty margin near separability. 0 gives the uniform deviation over all classifiers.
    polish : bool, default=False
        Whether to replace the fitted coefficients by the exact minimizer of their loss, instead of raising an error for
        a classifier whose solver stopped early. The bound, including its center, is then for that classifier, and the
        remarks report how far it is from the fitted one. Other intervals are for the classifier as fitted.
    limits : SearchLimits, default=SearchLimits()
        The solver and its limits on nodes and seconds; unsolved draws enter with their upper bounds.

    Raises
    ------
    ValueError
        If a setting is out of range.

    Examples
    --------
    >>> from cudbound import SearchLimits
    >>> Bound(localization="paper-literal", limits=SearchLimits(seconds=60)).polish
    False
    """

    localization: str | float = "n"
    polish: bool = False
    limits: SearchLimits = field(default_factory=SearchLimits)

    def __post_init__(self) -> None:
        check_localization(self.localization, 1)
        check_flag("polish", self.polish)
        if not isinstance(self.limits, SearchLimits):
            raise ParameterError("limits", "a SearchLimits, such as SearchLimits(seconds=60)", self.limits)


def check_bound(bound: object) -> Bound:
    """Return the settings, or the defaults for None; raise ValueError for anything else."""
    if bound is None:
        return Bound()
    if not isinstance(bound, Bound):
        raise ParameterError("bound", "a Bound, such as Bound(polish=True), or None", bound)
    return bound
