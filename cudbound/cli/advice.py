"""What goes wrong with a classifier, and how to go on, in words of the command instead of Python's."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

#: scikit-learn's own text is several lines long and speaks of Python.
NOT_CONVERGED = (
    "{what} did not converge; standardise the features with --standardize, or raise the number of steps with "
    "--set max_iter=N"
)
_NOT_MINIMISER = (
    "add --polish for the CUD interval of the exact minimiser, or fit more exactly with --set tol=1e-10 and "
    "--set max_iter=100000"
)
_SAVED_NOT_MINIMISER = (
    "check that FILE.csv holds the rows that the model was fitted to, and that it was fitted without sample weights; "
    "if so its solver stopped early: add --polish for the CUD interval of the exact minimiser"
)
_NO_MINIMISER = (
    "choose a classifier with a penalty, such as --classifier logistic or --classifier convex-loss "
    "--set penalty=0.01, or one whose loss always has a minimiser, such as --classifier least-squares"
)
_UNSUPPORTED = (
    "choose another --classifier for the CUD bound, or leave cud out of --methods: the other intervals take any "
    "classifier of two classes"
)
#: How the package names the way out for penalties that only the slow solver knows.
_OTHER_SOLVER = "pass solver='cvxpy'"


@contextmanager
def advice_of_the_command(*, saved: bool = False) -> Iterator[None]:
    """Raise ValueError with the fact that the package states and the command's way out of it.

    Parameters
    ----------
    saved : bool, default False
        Whether the classifier comes from a file, so that options of a fit are no way out.
    """
    from cudbound.exceptions import NoMinimiserError, NotMinimiserError, UnsupportedEstimatorError

    try:
        yield
    except NoMinimiserError as error:
        raise ValueError(_advise(error, _NO_MINIMISER)) from error
    except NotMinimiserError as error:
        raise ValueError(_advise(error, _SAVED_NOT_MINIMISER if saved else _NOT_MINIMISER)) from error
    except UnsupportedEstimatorError as error:
        raise ValueError(_advise(error, _UNSUPPORTED)) from error
    except ImportError as error:  # of cvxpy, with the way to get it
        raise ValueError(str(error)) from error
    except ValueError as error:
        if _OTHER_SOLVER not in str(error):
            raise
        raise ValueError(str(error).replace(_OTHER_SOLVER, "add --solver cvxpy")) from error


def warn_again(caught: Sequence[warnings.WarningMessage]) -> None:
    """Pass on the warnings of other packages, which are not ours to word, one for each place they come from."""
    first = {(event.category, event.filename, event.lineno): event for event in reversed(caught)}
    for event in reversed(first.values()):
        warnings.warn_explicit(event.message, event.category, event.filename, event.lineno)


def _advise(error: Exception, way_on: str) -> str:
    """Keep the first sentence of an error, which is the fact; what follows is advice for Python."""
    fact = str(error).partition(". ")[0].removesuffix(".")
    return f"{fact}; {way_on}"
