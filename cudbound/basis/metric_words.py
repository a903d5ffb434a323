"""Metrics, and further numbers of methods, in the words of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: Metrics in the words of a sentence, where they are not their names.
METRIC_WORDS: Mapping[str, str] = {
    "auc": "AUC (c-statistic)",
    "brier": "Brier score",
    "balanced-error": "balanced error",
    "cost": "mean cost of the errors",
    "ppv": "positive predictive value",
    "npv": "negative predictive value",
}
#: Numbers of a method's own that a reader wants to see, in words.
DETAILS: Mapping[str, str] = {
    "optimism_corrected": "optimism-corrected error",
    "error_632_plus": ".632+ estimate",
    "error_out_of_bag": "out-of-bag error",
    "error_cross_validated": "cross-validated error",
    "q_signed": "quantile of the signed suprema of the CUD bound",
    "uncapped_high": "upper limit without the cap",
    "effective_rows": "effective number of rows",
    "training_auc": "AUC on the training rows",
    "auc_optimism_corrected": "optimism-corrected AUC",
    "auc_out_of_bag": "out-of-bag AUC",
    "auc_632_plus": ".632+ AUC",
    "training_brier": "Brier score on the training rows",
    "brier_optimism_corrected": "optimism-corrected Brier score",
    "brier_out_of_bag": "out-of-bag Brier score",
    "brier_632_plus": ".632+ Brier score",
}


def metric_words(metrics: Iterable[str]) -> str:
    """Return metrics in the words of a sentence, each once.

    Examples
    --------
    >>> metric_words(["sensitivity", "auc", "brier"])
    'sensitivity, AUC (c-statistic) and Brier score'
    """
    words = [METRIC_WORDS.get(name, name) for name in dict.fromkeys(metrics)]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def in_formula(metric: str) -> str:
    """Return a metric as it stands before a bracket: AUC(a), error(b)."""
    return "AUC" if metric == "auc" else metric
