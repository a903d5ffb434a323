"""The data of a saved result, passed again: whether they are the same, and the classifier and the draws on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.adapters import express
from cudbound.aligned import check_index
from cudbound.audit.fingerprint import fingerprint
from cudbound.audit.origin import asked_again, make_rows
from cudbound.audit.saved_result import ROWS, SavedClassifier, SavedResult
from cudbound.exceptions import SavedResultError, StatedError
from cudbound.groups import Groups, check_groups
from cudbound.losses.surrogates import LOSSES, get_loss
from cudbound.metrics.metric_draws import MetricDraws
from cudbound.metrics.metrics import ResolvedMetrics
from cudbound.problem.additive_model import AdditiveModel
from cudbound.tables.verification import Check
from cudbound.validation import (
    Array,
    check_binary_classifier,
    check_labels,
    check_lengths,
    check_row_weights,
    count_rows,
)
from cudbound.versions import versions

#: How far penalties and weights of a classifier may be from those in the file, relative to their size.
PARAMETERS = 1e-9


@dataclass(frozen=True, eq=False)
class DataAgain:
    """The data of a check, and what is drawn from them."""

    estimator: Any
    X: Any
    y: Any
    labels: Array
    groups: ArrayLike | None
    checked_groups: Groups | None
    sample_weight: Array | None
    asked: ResolvedMetrics

    @property
    def event(self) -> NDArray[np.bool_]:
        """Which rows are events."""
        return self.asked.event_rows(self.labels)


def take_data(
    saved: SavedResult, estimator: Any, X: Any, y: Any, groups: Any, sample_weight: Any
) -> DataAgain:
    """Check what was passed for the data of a saved result.

    Raises
    ------
    ValueError
        If the labels or the classes of the classifier are others than those in the file, or a shape does not fit.
    """
    classes = np.array(saved.data.classes, dtype=None if _alike(saved.data.classes) else object)
    if estimator is not None:
        known = check_binary_classifier(estimator)
        if known.tolist() != list(saved.data.classes):
            raise ValueError(
                f"The saved result is of the classes {list(saved.data.classes)}. Got a classifier of {known.tolist()} "
                "instead; pass the one that it was computed for."
            )
    labels = check_labels(y, classes)
    check_lengths(count_rows(X), labels.size)
    check_index(X, y)
    weights = None if sample_weight is None else check_row_weights(sample_weight, labels.size)
    try:
        asked = asked_again(saved.settings.asked, saved.data).resolve(list(saved.data.classes))
    except ValueError as error:
        raise SavedResultError(f"what it says was asked for cannot be: {error}") from error
    return DataAgain(estimator, X, y, labels, groups, check_groups(groups, labels), weights, asked)


def _alike(values: tuple[Any, ...]) -> bool:
    return len({type(value) for value in values}) == 1


def check_data(saved: SavedResult, data: DataAgain) -> Check:
    """Compare the fingerprint of the data with that in the file."""
    found = fingerprint(data.X, data.event, data.checked_groups, data.sample_weight)
    text = f"fingerprint {found[:12]}..."
    if found == saved.data.fingerprint:
        return Check("data", True, f"{text}, that of the file")
    return Check("data", False, _other_data(saved, data, text))


def _other_data(saved: SavedResult, data: DataAgain, text: str) -> str:
    """Say what may have been passed in place of the data of the file."""
    parts = [f"{text}, the file has {saved.data.fingerprint[:12]}..."]
    if saved.data.n_samples != data.labels.size:
        parts.append(f"{data.labels.size} rows, the file has {saved.data.n_samples}")
    for name, was, now in (
        ("groups", saved.data.grouped, data.groups is not None),
        ("sample weights", saved.data.weighted, data.sample_weight is not None),
    ):
        if was != now:
            parts.append(f"it was computed {'with' if was else 'without'} {name}")
    return "; ".join(parts)


def check_draws(saved: SavedResult, data: DataAgain) -> Check:
    """Draw from the seed again, and compare the draws with those in the file."""
    seed, size = saved.settings.seed, len(saved.counts)
    if seed is None:
        return Check("draws", None, f"no seed is known of the {size} draws")
    draws = MetricDraws(data.asked, data.sample_weight)
    try:
        counts = draws.draw(data.labels, size, np.random.default_rng(seed), data.checked_groups)
    except ValueError as error:
        return Check("draws", False, f"no such draws can be made: {error}")
    if np.array_equal(counts, saved.counts):
        return Check("draws", True, f"{size} draws are those of seed {seed}, to the bit")
    was, now = saved.versions.get("numpy"), versions()["numpy"]
    text = f"they are not the {size} draws of seed {seed}"
    if was != now:
        return Check("draws", None, f"{text} with numpy {now}; the file was made with numpy {was}")
    return Check("draws", False, text)


def model_again(
    saved: SavedResult, known: SavedClassifier, data: DataAgain
) -> tuple[AdditiveModel | None, str]:
    """Return the classifier on the data, and what of it is not as in the file."""
    if data.estimator is not None:
        try:
            model = express(
                data.estimator, data.X, data.y, polish=saved.settings.polish, sample_weight=data.sample_weight
            )
        except (StatedError, ValueError) as error:
            fact = error.fact if isinstance(error, StatedError) else str(error)
            return None, f"the classifier that was passed cannot be checked: {fact}"
        if model.classes.tolist() != list(known.classes):
            model = model.reversed()
        return model, _differences(model, known)
    if known.rows == ROWS[2] or known.loss not in LOSSES:
        raise ValueError(
            "The 'estimator' parameter must be the fitted classifier: the file alone does not say how the rows that "
            "its coefficients multiply come from the features. Got None instead."
        )
    labels = np.where(np.asarray(data.y) == known.classes[1], 1.0, -1.0)
    design = make_rows(np.asarray(data.X, dtype=np.float64), known.rows)
    if design.shape[1] != known.coefficients.size:
        return None, f"it has {known.coefficients.size} coefficients, and these data need {design.shape[1]}"
    pair = known.class_weights
    return AdditiveModel(
        design,
        labels,
        known.coefficients,
        get_loss(known.loss),
        np.array(known.classes),
        known.penalty,
        known.l1_penalty,
        None if pair is None else np.where(labels > 0.0, pair[1], pair[0]),
        known.offset,
    ), ""


def _differences(model: AdditiveModel, known: SavedClassifier) -> str:
    """Say in what a classifier differs from that in the file; nothing if in nothing that a result depends on."""
    if model.coef.shape != known.coefficients.shape:
        return f"it has {model.coef.size} coefficients, and the file has {known.coefficients.size}"
    if model.loss.name != known.loss:
        return f"its loss is {model.loss.name}, and the file has {known.loss}"
    for name in ("penalty", "l1_penalty", "offset"):
        ours, theirs = (0.0 if one is None else one for one in (getattr(model, name), getattr(known, name)))
        if not np.allclose(ours, theirs, rtol=PARAMETERS, atol=0.0):
            return f"its {name.replace('_', ' ')} is another than in the file"
    return ""
