"""Words for what methods need, for messages: the names of fields of `Records` are internal."""

from __future__ import annotations

from collections.abc import Iterable

#: The words, and the argument or the class that holds it.
WORDS = {
    "losses": ("losses of the training rows", "training_losses"),
    "bootstrap": ("refits on bootstrap draws", "BootstrapLosses"),
    "inner": ("bootstrap draws of bootstrap draws", "InnerErrors"),
    "folds": ("cross-validation", "FoldLosses"),
    "repeated_folds": ("repeated cross-validation", "RepeatedFoldLosses"),
    "stratified_folds": ("repeated cross-validation", "RepeatedFoldLosses"),
    "leave_one_out": ("leave-one-out cross-validation", "FoldLosses with one row per fold"),
    "test_set": ("test cases", "TestSetLosses"),
    "second_test_set": ("a test set for each classifier", "TestSetLosses of the second classifier"),
    "splits": ("splits into training and test rows", "SplitLosses"),
    "half_splits": ("splits of both halves of the rows", "HalfSplitLosses"),
    "half_folds": ("cross-validation of both halves of the rows", "HalfFoldLosses"),
    "replicates": ("splits of replicates of the rows", "ReplicateLosses"),
    "halvings": ("two-fold cross-validation", "HalvingLosses"),
    "nested": ("nested cross-validation", "NestedLosses"),
    "removed_cases": ("refits without single rows", "RemovedCaseErrors"),
    "replacements": ("cross-validation with replaced rows", "ReplacementErrors"),
    "boundary": ("suprema near the boundary", "BoundaryDeviations"),
    "tuned": ("cross-validation of each configuration of a search", "TunedLosses"),
    "design": ("the rank of the design", "Design"),
    "bolstered": ("kernels around the rows", "BolsteredLosses"),
    "bound": ("the CUD bound", "a classifier, as in cudbound.compare_intervals"),
    "own_intervals": ("its own fits", "a classifier, as in cudbound.compare_intervals"),
    "scores": ("scores of the training rows", "scores"),
    "probabilities": ("probabilities of the training rows", "scores that are probabilities"),
    "groups": ("groups of rows", "Groups"),
    "second": ("scores of a second classifier", "second"),
}


def in_words(needs: Iterable[str]) -> str:
    """Return what methods need, in words.

    Examples
    --------
    >>> in_words({"splits", "half_splits"})
    'splits into training and test rows and splits of both halves of the rows'
    """
    return " and ".join(dict.fromkeys(WORDS[need][0] for need in sorted(needs, key=list(WORDS).index)))


def missing_record(method: str, need: str, kind: str = "classes") -> ValueError:
    """Return the error for a record that is missing, of records of this kind."""
    words, holder = WORDS[need]
    if kind != "classes":
        # losses are those of the scores
        holder = f"ScoreRecords(..., {'scores' if need == 'losses' else need}=...)"
    return ValueError(f"{method} needs {words}, not recorded here: pass {holder}.")
