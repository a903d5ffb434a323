"""What may have been meant by a name that does not exist; the command needs it before anything heavy is loaded."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return the sentence that names what was meant, with a blank before it, or nothing if no name is close.

    Examples
    --------
    >>> suggestion("two-centre", ["cud", "two-center"])
    " Did you mean 'two-center'?"
    """
    close = difflib.get_close_matches(name, list(known), n=1) if isinstance(name, str) else []
    return f" Did you mean {close[0]!r}?" if close else ""


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a hint at the name that was meant, or else `otherwise` and all names.

    Examples
    --------
    >>> did_you_mean("n_fold", ["n_folds", "n_splits"], "the sizes are")
    'did you mean n_folds?'
    """
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else f"{otherwise} {', '.join(known)}."
