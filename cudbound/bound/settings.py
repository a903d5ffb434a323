"""What a caller says of the CUD bound."""

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
        (2008); "paper-literal" is n squared, which is what section 5 uses when its unscaled loss is read literally and
        can give an empty margin near separability. 0 gives the uniform deviation over all classifiers.
    polish : bool, default=False
        Whether to replace the fitted coefficients by the exact minimizer of their loss, instead of refusing a
        classifier whose solver stopped early. The bound, its center included, is then for that classifier, and the
        remarks say how far it is from the fitted one. Other intervals are for the classifier as it was fitted.
    limits : SearchLimits, default=SearchLimits()
        The solver, and nodes and seconds after which searches are given up; draws left open enter with their upper
        bounds.

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
    """Return the settings, or the defaults for None; raise ValueError if they are something else."""
    if bound is None:
        return Bound()
    if not isinstance(bound, Bound):
        raise ParameterError("bound", "a Bound, such as Bound(polish=True), or None", bound)
    return bound
