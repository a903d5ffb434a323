"""The recommended interval a second time, in plain Python: one row, one draw and one pair after another.

Nothing is taken from the package or from a library of numerics: every number is computed from what the classifier, its
refits on bootstrap draws and the classifiers of the folds predict for the rows, by the formulas as they are written.
Details are on the scale of the package: of the AUC itself, and of the mean loss for every other metric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rule_again import Numbers, interval, mean, plus_632

#: Share of the largest score up to which two scores are equal: sums of the same terms in another order.
TIE = 1e-12


@dataclass(frozen=True)
class Outputs:
    """What one classifier says of every row: its class, and a score and a probability of the event if it has them."""

    predicted: Sequence[int]
    scores: Sequence[float] | None = None
    probabilities: Sequence[float] | None = None


@dataclass(frozen=True)
class Fits:
    """The classifier, its refits with the counts of their draws, and that of each fold with the fold of each row."""

    training: Outputs
    draws: Sequence[tuple[Sequence[int], Outputs]]
    partitions: Sequence[tuple[Sequence[int], Sequence[Outputs]]]


@dataclass(frozen=True)
class Sample:
    """The rows: class, and whether it is the event; weight; group, if any; the rank of the matrix, if known."""

    labels: Sequence[int]
    event: int = 1
    weights: Sequence[float] | None = None
    groups: Sequence[int] | None = None
    rank: float = math.nan

    @property
    def events(self) -> list[bool]:
        return [label == self.event for label in self.labels]


@dataclass(frozen=True)
class ClassMetric:
    """A mean of misclassified rows: of all, or of the non-events and the events with these shares."""

    shares: tuple[float, float] | None = None
    costs: tuple[float, float] = (1.0, 1.0)
    complement: bool = False


CLASS_METRICS = {
    "error": ClassMetric(),
    "accuracy": ClassMetric(complement=True),
    "sensitivity": ClassMetric((0.0, 1.0), complement=True),
    "specificity": ClassMetric((1.0, 0.0), complement=True),
    "fpr": ClassMetric((1.0, 0.0)),
    "fnr": ClassMetric((0.0, 1.0)),
    "balanced-error": ClassMetric((0.5, 0.5)),
    "balanced-accuracy": ClassMetric((0.5, 0.5), complement=True),
    "cost": ClassMetric(costs=(1.0, 4.0)),
}


def numbers(metric: str, sample: Sample, fits: Fits, tail: float = 0.025) -> Numbers:
    """Return estimate, limits and details of one metric; each limit has this tail."""
    if metric == "auc":
        return _auc_numbers(sample, fits, tail)
    if metric == "brier":
        return _brier_numbers(sample, fits, tail)
    return _class_numbers(CLASS_METRICS[metric], sample, fits, tail)


# ---- losses out of bag ----


def mean_out_of_bag(losses: Sequence[Sequence[float]], counts: Sequence[Sequence[int]]) -> float:
    """Err(1): for each row the mean loss of the refits whose draws are without it, then the mean over rows."""
    of_rows = []
    for row in range(len(losses[0])):
        outside = [of_refit[row] for of_refit, drawn in zip(losses, counts, strict=True) if drawn[row] == 0]
        if outside:
            of_rows.append(mean(outside))
    return mean(of_rows)


def rows_that_count(
    n_rows: float,
    losses: Sequence[Sequence[float]],
    counts: Sequence[Sequence[int]],
    groups: Sequence[int] | None,
) -> float:
    """The rows over the design effect of the out-of-bag losses, at least Kish's number of groups."""
    if groups is None:
        return n_rows
    outside = [
        (group, loss, refit)
        for refit, (of_refit, drawn) in enumerate(zip(losses, counts, strict=True))
        for group, loss, count in zip(groups, of_refit, drawn, strict=True)
        if count == 0
    ]
    middle = mean(loss for _, loss, _ in outside)
    sums: dict[tuple[int, int], float] = {}
    for group, loss, refit in outside:
        sums[refit, group] = sums.get((refit, group), 0.0) + loss - middle
    of_rows = math.fsum((loss - middle) ** 2 for _, loss, _ in outside)
    # losses that are all equal do not show how they vary together
    effect = math.fsum(total**2 for total in sums.values()) / of_rows if of_rows > 0.0 else math.inf
    kish = len(groups) ** 2 / sum(groups.count(group) ** 2 for group in set(groups))
    return max(n_rows / max(effect, 1.0), min(kish, n_rows))


# ---- metrics of classes ----


def _class_numbers(metric: ClassMetric, sample: Sample, fits: Fits, tail: float) -> Numbers:
    weights = _weights(metric, sample)
    counted = [row for row, weight in enumerate(weights) if weight > 0.0]
    severity = [metric.costs[is_event] / max(metric.costs) for is_event in sample.events]
    factor = [len(counted) * weights[row] * severity[row] for row in counted]

    def losses_of(outputs: Outputs) -> list[float]:
        return [
            times * (outputs.predicted[row] != sample.labels[row])
            for row, times in zip(counted, factor, strict=True)
        ]

    counts = [[drawn[row] for row in counted] for drawn, _ in fits.draws]
    losses = [losses_of(outputs) for _, outputs in fits.draws]
    of_partitions = []
    for folds, classifiers in fits.partitions:
        of_folds = [losses_of(outputs) for outputs in classifiers]
        of_partitions.append(mean(of_folds[folds[row]][place] for place, row in enumerate(counted)))
    training, cross_validated = mean(losses_of(fits.training)), mean(of_partitions)
    # the mean over the rows that were left out may be above 1 if these weigh more than the others
    out_of_bag = min(mean_out_of_bag(losses, counts), 1.0)
    no_information = _no_information(weights, severity, sample, fits.training.predicted)
    groups = None if sample.groups is None else [sample.groups[row] for row in counted]
    units = len(counted) if groups is None else len(set(groups))
    from_zero = training == 0.0 and sample.rank <= units / 3.0
    size = rows_that_count(1.0 / math.fsum(weight**2 for weight in weights), losses, counts, groups)
    lower = 0.0 if from_zero else min(cross_validated, plus_632(training, out_of_bag, no_information))
    if len(set(metric.costs)) > 1:
        size /= _cost_factor(weights, severity, sample, fits, lower)
    result = interval(
        training, cross_validated, out_of_bag, no_information, lambda _: size, tail, from_zero=from_zero
    )
    limits = [_on_scale(metric, result[name]) for name in ("low", "high")]
    return result | {
        "estimate": _on_scale(metric, result["estimate"]),
        "low": min(limits),
        "high": max(limits),
    }


def _on_scale(metric: ClassMetric, loss: float) -> float:
    return 1.0 - loss if metric.complement else max(metric.costs) * loss


def _weights(metric: ClassMetric, sample: Sample) -> list[float]:
    """The weight of each row in the mean, with the sum 1."""
    of_rows = sample.weights or [1.0] * len(sample.labels)
    if metric.shares is None:
        return [weight / math.fsum(of_rows) for weight in of_rows]
    totals = [
        math.fsum(
            weight for weight, is_event in zip(of_rows, sample.events, strict=True) if is_event == label
        )
        for label in (False, True)
    ]
    return [
        metric.shares[is_event] * weight / totals[is_event]
        for weight, is_event in zip(of_rows, sample.events, strict=True)
    ]


def _no_information(
    weights: Sequence[float], severity: Sequence[float], sample: Sample, predicted: Sequence[int]
) -> float:
    """The mean loss over all pairs of a row's label and a row's prediction."""
    of_rows = sample.weights or [1.0] * len(sample.labels)
    total = math.fsum(
        weight * cost * other * (prediction != label)
        for weight, cost, label in zip(weights, severity, sample.labels, strict=True)
        for other, prediction in zip(of_rows, predicted, strict=True)
    )
    return total / math.fsum(of_rows)


def _cost_factor(
    weights: Sequence[float], severity: Sequence[float], sample: Sample, fits: Fits, lower: float
) -> float:
    """The variance of losses of different costs divided by that of zeros and ones with the same mean.

    Out of bag, and with one further row that is wrong at full cost.
    """
    total = squares = math.fsum(weight**2 for weight in weights)
    for row, (weight, cost) in enumerate(zip(weights, severity, strict=True)):
        outside = [
            outputs.predicted[row] != sample.labels[row] for drawn, outputs in fits.draws if drawn[row] == 0
        ]
        wrong = mean(outside) if outside else 0.0
        total += weight * cost * wrong
        squares += weight * cost**2 * wrong
    ratio = squares / total
    return (ratio - lower) / (1.0 - lower) if lower < ratio else 1.0


# ---- Brier score ----


def _brier_numbers(sample: Sample, fits: Fits, tail: float) -> Numbers:
    events, n = sample.events, len(sample.labels)
    assert fits.training.probabilities is not None
    # refits to one class have no probabilities and are left out
    draws = [
        (drawn, outputs.probabilities) for drawn, outputs in fits.draws if outputs.probabilities is not None
    ]
    counts = [drawn for drawn, _ in draws]
    losses = [_squared_errors(events, probabilities) for _, probabilities in draws]
    training_losses = _squared_errors(events, fits.training.probabilities)
    cross_validated = []
    for folds, classifiers in fits.partitions:
        for row, fold in enumerate(folds):
            probabilities = classifiers[fold].probabilities
            if probabilities is None:  # fitted to one class, which is then certain
                probability = mean(events[other] for other in range(n) if folds[other] != fold)
            else:
                probability = probabilities[row]
            cross_validated.append((events[row] - probability) ** 2)
    training, out_of_bag = mean(training_losses), mean_out_of_bag(losses, counts)
    squares = mean_out_of_bag([[loss**2 for loss in of_refit] for of_refit in losses], counts)
    on_training = math.fsum((loss - training) ** 2 for loss in training_losses) / (n - 1)
    variance = max(squares - out_of_bag**2, on_training)
    rows = rows_that_count(n, losses, counts, sample.groups)

    def size(center: float) -> float:
        largest = center * (1.0 - center)
        if largest == 0.0:
            return rows
        # a quarter of an unseen case with the loss 1
        return rows * largest / min(variance + 0.25 * (1.0 - center) ** 2 / rows, largest)

    no_information = mean(
        (is_event - probability) ** 2 for is_event in events for probability in fits.training.probabilities
    )
    return interval(training, mean(cross_validated), out_of_bag, no_information, size, tail)


def _squared_errors(events: Sequence[bool], probabilities: Sequence[float]) -> list[float]:
    return [
        (is_event - probability) ** 2 for is_event, probability in zip(events, probabilities, strict=True)
    ]


# ---- AUC ----


def ranks(scores: Sequence[float]) -> list[int]:
    """The place of each score among the distinct ones."""
    order = sorted(range(len(scores)), key=lambda row: scores[row])
    step = TIE * max(abs(score) for score in scores)
    places = [0] * len(scores)
    for before, row in pairwise(order):
        places[row] = places[before] + (scores[row] - scores[before] > step)
    return places


def share_won(place: int, other: int) -> float:
    return 1.0 if place > other else 0.5 if place == other else 0.0


def _auc_numbers(sample: Sample, fits: Fits, tail: float) -> Numbers:
    events = [row for row, is_event in enumerate(sample.events) if is_event]
    others = [row for row, is_event in enumerate(sample.events) if not is_event]
    assert fits.training.scores is not None
    places = ranks(fits.training.scores)
    training = mean(share_won(places[i], places[j]) for i in events for j in others)
    out_of_bag = _out_of_bag_auc(events, others, fits)
    cross_validated = _auc_within_folds(events, others, fits)
    size = _auc_size(events, others, places, sample.groups)
    of_loss = interval(
        1.0 - training,
        1.0 - cross_validated,
        1.0 - out_of_bag,
        0.5,
        lambda loss: size(1.0 - loss),
        tail,
    )
    mirrored = {
        "lower_center": 1.0 - of_loss["upper_center"],
        "upper_center": 1.0 - of_loss["lower_center"],
        "lower_size": of_loss["upper_size"],
        "upper_size": of_loss["lower_size"],
        "low": 1.0 - of_loss["high"],
        "high": 1.0 - of_loss["low"],
    }
    return {name: 1.0 - value for name, value in of_loss.items()} | mirrored


def _out_of_bag_auc(events: Sequence[int], others: Sequence[int], fits: Fits) -> float:
    """The mean over pairs of the share won among the draws that hold neither; refits to one class do not rank."""
    won: dict[tuple[int, int], list[float]] = {}
    for drawn, outputs in fits.draws:
        if outputs.scores is None:
            continue
        places = ranks(outputs.scores)
        outside = [row for row in others if drawn[row] == 0]
        for i in (row for row in events if drawn[row] == 0):
            for j in outside:
                won.setdefault((i, j), []).append(share_won(places[i], places[j]))
    return mean(mean(shares) for shares in won.values())


def _auc_within_folds(events: Sequence[int], others: Sequence[int], fits: Fits) -> float:
    """The share of the pairs of one fold that are ranked right; a classifier fitted to one class ranks none."""
    shares = []
    for folds, classifiers in fits.partitions:
        places = [None if outputs.scores is None else ranks(outputs.scores) for outputs in classifiers]
        for i in events:
            of_fold = places[folds[i]]
            shares += [
                0.5 if of_fold is None else share_won(of_fold[i], of_fold[j])
                for j in others
                if folds[i] == folds[j]
            ]
    return mean(shares)


def _auc_size(
    events: Sequence[int], others: Sequence[int], places: Sequence[int], groups: Sequence[int] | None
) -> Callable[[float], float]:
    """The number of cases at an AUC: Hanley and McNeil's, or DeLong's, down to those of the rarer class near 1."""
    independent = auc_variance(events, others, places, list(range(len(places))))
    variance, share, fewest = independent, 1.0, min(len(events), len(others))
    if groups is not None:
        variance = auc_variance(events, others, places, groups)
        share = min(1.0, independent / variance) if variance > 0.0 else 1.0
        fewest = min(len({groups[row] for row in rows}) for rows in (events, others))

    def size(center: float) -> float:
        half = (len(events) + len(others)) / 2.0 - 1.0
        spread = 1.0 + half * ((1.0 - center) / (2.0 - center) + center / (1.0 + center))
        cases = max(share * len(events) * len(others) / spread, fewest)
        cases = fewest + (cases - fewest) * min(1.0, fewest * (1.0 - center))
        if variance > 0.0:
            cases = min(cases, center * (1.0 - center) / variance)
        return max(cases, fewest)

    return size


def auc_variance(
    events: Sequence[int], others: Sequence[int], places: Sequence[int], groups: Sequence[int]
) -> float:
    """The variance of an AUC by Obuchowski (1997); with one row per group it is DeLong's."""
    won = {(i, j): share_won(places[i], places[j]) for i in events for j in others}
    whole = mean(won.values())
    above = {i: mean(won[i, j] for j in others) - whole for i in events}
    below = {j: mean(won[i, j] for i in events) - whole for j in others}
    totals: list[dict[int, float]] = []
    variance = 0.0
    for deviations in (above, below):
        sums: dict[int, float] = {}
        for row, deviation in deviations.items():
            sums[groups[row]] = sums.get(groups[row], 0.0) + deviation
        n_with = len(sums)
        if n_with < 2:
            return math.nan
        variance += (
            n_with / (n_with - 1.0) * math.fsum(total**2 for total in sums.values()) / len(deviations) ** 2
        )
        totals.append(sums)
    n_groups = len(set(groups))
    together = math.fsum(totals[0][group] * totals[1].get(group, 0.0) for group in totals[0])
    return variance + 2.0 * n_groups / (n_groups - 1.0) * together / (len(events) * len(others))
