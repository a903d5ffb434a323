"""Settings of the resampling."""

from __future__ import annotations

from dataclasses import dataclass, field

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import Splits, check_choice, check_flag, check_inner
from cudbound.resampling.single_class import POLICIES
from cudbound.resampling.sizes import ResamplingSizes


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """Settings for drawing and refitting training sets, except the number of bootstrap draws.

    Attributes
    ----------
    inner : int, "oob" or None, default=None
        Inner draws per draw for bootstrap intervals that recompute the .632 estimate on every draw. "oob" uses .368
        err(f_b on D_b) + .632 err(f_b off D_b) instead and needs no inner draws; a draw that leaves no row out is then
        redrawn, for every method that refits the draws. None means 50 if refits are made in batches, and "oob" if
        clones are fitted one by one, as for a random forest, because 51,000 fits with the other defaults would take
        long.
    on_single_class : {"fit", "redraw", "drop", "error"} or None, default=None
        Treatment of resampled training sets with only one class; remarks report their number. None means "fit" if
        refits are made in batches, which gives a constant classifier, and "redraw" otherwise. The CUD bound needs no
        refits and uses every draw unchanged.
    cv : int, splitter of scikit-learn or iterable of (train, test), default=None
        Your own splits, used instead of random ones by methods based on folds or splits: a partition serves methods of
        k-fold cross-validation and, as the test sets of J = k splits, methods of random splits; repeated partitions and
        random splits serve only the latter. An integer means stratified shuffled folds.
    copies : bool or None, default=None
        Whether a classifier is refitted to a bootstrap draw with all copies of its rows. False fits each row of a draw
        once, about .632 n rows: a classifier that splits its rows when it is fitted, as a search with cross-validation
        does, would otherwise meet copies of a row on both sides of a split. None means False for classifiers that are
        seen to do so: searches and other classifiers or steps with a parameter `cv`, and early stopping. Pass False for
        a class of your own that splits its rows.
    sizes : ResamplingSizes, default=ResamplingSizes()
        Numbers of folds, splits and repetitions, and the rate for "aci".

    Raises
    ------
    ValueError
        If a setting is out of range.

    Examples
    --------
    >>> Resampling(inner="oob").on_single_class is None
    True
    """

    inner: int | str | None = None
    on_single_class: str | None = None
    cv: Splits | None = None
    copies: bool | None = None
    sizes: ResamplingSizes = field(default_factory=ResamplingSizes)

    def __post_init__(self) -> None:
        if self.inner is not None:
            check_inner(self.inner)
        if self.on_single_class is not None:
            check_choice("on_single_class", self.on_single_class, POLICIES)
        if self.copies is not None:
            check_flag("copies", self.copies)
        if not isinstance(self.sizes, ResamplingSizes):
            raise ParameterError("sizes", "a ResamplingSizes", self.sizes)


def check_resampling(resampling: object) -> Resampling:
    """Return the settings, or the defaults for None; raise ValueError for anything else."""
    if resampling is None:
        return Resampling()
    if not isinstance(resampling, Resampling):
        raise ParameterError(
            "resampling", 'a Resampling, such as Resampling(inner="oob"), or None', resampling
        )
    return resampling
