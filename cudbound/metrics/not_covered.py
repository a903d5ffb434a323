"""Quantities that this package does not support, and alternatives, one sentence each, for Python and the command."""

from __future__ import annotations

_BOTH = (
    "metric=['sensitivity', 'specificity'] with joint=True at a threshold chosen in advance, on the command line "
    "--metric sensitivity,specificity --joint"
)
#: Sentences by the names that readers use, in lower case with hyphens.
_SENTENCES: dict[tuple[str, ...], str] = {
    ("average-precision", "auprc", "pr-auc"): (
        "it depends on the share of events among the cases at each threshold; use metric='auc', on the command line "
        "--metric auc."
    ),
    ("f1", "f1-score", "f-score", "f-measure", "fbeta", "mcc", "matthews", "kappa", "cohen-kappa"): (
        "it is a ratio whose parts vary together, not a mean over cases; use metric=['sensitivity', 'ppv'] "
        "with joint=True and a prevalence, on the command line --metric sensitivity,ppv --joint --prevalence 0.1."
    ),
    ("youden", "informedness"): (
        "it is twice the balanced accuracy minus 1; use metric='balanced-accuracy', on the command line --metric "
        "balanced-accuracy."
    ),
    ("sensitivity-at-specificity", "sensitivity-at-fixed-specificity", "specificity-at-sensitivity"): (
        "the threshold that gives a fixed specificity varies with the sample, which is out of scope here; use "
        f"{_BOTH}."
    ),
    ("log-loss", "calibration", "calibration-slope"): (
        "it is not supported; use metric='brier' for probabilities, on the command line --metric brier."
    ),
    ("survival", "c-index", "concordance", "concordance-index", "hazard-ratio"): (
        "censored times to an event are not classes; use metric='error' for the status at a time when it is known for "
        "every patient, on the command line --metric error with that status as --target."
    ),
    ("regression", "mse", "rmse", "mae", "r2"): (
        "numbers are not classes; use metric='error' for whether the number is above a limit chosen in advance, on the "
        "command line --metric error with that as --target."
    ),
    ("multiclass", "macro-f1", "top-k"): (
        "with more than two classes, only the error and the sensitivity of each are supported; use metric=['error', "
        "'sensitivity'], on the command line --metric error,sensitivity --all-classes."
    ),
}
_BY_NAME = {name: sentence for names, sentence in _SENTENCES.items() for name in names}


def why_not(name: str) -> str | None:
    """Return why a quantity is not supported and what to use instead, or None if it is unknown.

    Examples
    --------
    >>> why_not("pr_auc")[:30]
    'it depends on the share of eve'
    """
    return _BY_NAME.get("-".join(name.lower().replace("_", " ").replace("-", " ").split()))
