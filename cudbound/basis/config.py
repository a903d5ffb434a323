"""Settings of the process, as in scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cudbound.basis.bars import CONFIG
from cudbound.basis.calls import public_call
from cudbound.basis.validation import check_flag


@public_call
def set_config(*, progress: bool | None) -> None:
    """Set whether calls in this process show progress bars on standard error, with the remaining time.

    Parameters
    ----------
    progress : bool or None
        True shows them at once and everywhere, False never. None, which holds until something is set, shows them from
        two seconds on, on a terminal or in a notebook.

    Raises
    ------
    ValueError
        If it is none of these.

    Examples
    --------
    >>> import cudbound
    >>> cudbound.set_config(progress=False)
    >>> cudbound.get_config()
    {'progress': False}
    >>> cudbound.set_config(progress=None)
    """
    CONFIG["progress"] = None if progress is None else check_flag("progress", progress)


@public_call
def get_config() -> dict[str, bool | None]:
    """Return the settings by their names, those of `set_config`.

    Examples
    --------
    >>> import cudbound
    >>> list(cudbound.get_config())
    ['progress']
    """
    return dict(CONFIG)


@public_call
@contextmanager
def config_context(*, progress: bool | None) -> Iterator[None]:
    """Change the settings of `set_config` within a block, for all threads, and restore them at its end.

    Parameters
    ----------
    progress : bool or None
        As for `set_config`.

    Raises
    ------
    ValueError
        As `set_config`, when the block begins.

    Examples
    --------
    >>> import cudbound
    >>> with cudbound.config_context(progress=False):
    ...     cudbound.get_config()
    {'progress': False}
    """
    before = get_config()
    set_config(progress=progress)
    try:
        yield
    finally:
        CONFIG.update(before)
