"""The versions of software that results depend on."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version

#: Packages whose versions belong to a result, by the names of their distributions.
PACKAGES = ("cudbound", "numpy", "scipy", "scikit-learn")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of `PACKAGES`.

    Examples
    --------
    >>> list(versions())
    ['python', 'cudbound', 'numpy', 'scipy', 'scikit-learn']
    """
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
