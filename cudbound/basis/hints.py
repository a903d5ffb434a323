"""Hints: the name that was probably meant, and how to install a missing package.

The command needs them before anything heavy is loaded.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return a sentence with the closest name, after a blank, or an empty string if no name is close.

    Examples
    --------
    >>> suggestion("two-centre", ["cud", "two-center"])
    " Did you mean 'two-center'?"
    """
    close = _closest(name, known) if isinstance(name, str) else None
    return "" if close is None else f" Did you mean {close!r}?"


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a hint at the closest name, or else `otherwise` and all names.

    Examples
    --------
    >>> did_you_mean("n_fold", ["n_folds", "n_splits"], "the sizes are")
    'did you mean n_folds?'
    """
    known = list(known)
    close = _closest(name, known)
    return f"{otherwise} {', '.join(known)}." if close is None else f"did you mean {close}?"


def _closest(name: str, known: Iterable[str]) -> str | None:
    """Return the name that is most like another one, whatever the case of their letters."""
    folded = {one.casefold(): one for one in known}
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
    found = [match[1] for match in map(marked.fullmatch, requires("cudbound") or ()) if match]
    return f"pip install {' '.join(map(repr, found))}"
