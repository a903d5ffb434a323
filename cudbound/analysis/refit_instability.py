"""Classification instability of a fitted classifier, from its refits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cudbound.analysis.analyze import record_losses
from cudbound.analysis.instability import Instability
from cudbound.analysis.question import Question
from cudbound.basis.calls import public_call
from cudbound.basis.method_card import MethodCard, RequestedMethods
from cudbound.basis.outcomes import Estimand
from cudbound.basis.validation import Features, Learner
from cudbound.resampling import Resampling
from cudbound.resampling.bootstrap import BOOTSTRAP

#: The requirements on refits, as a method.
READER = MethodCard(
    name="classification-instability",
    title="Share of refits that classify a row differently",
    formula="mean over b of 1{f_b(x_i) != f(x_i)}",
    estimand=Estimand("conditional"),
    needs=frozenset({BOOTSTRAP}),
    assumptions="refits vary like classifiers fitted to other training sets from the population",
    tendency="too low if the classifier fits almost without error: its refits share most rows with it",
    reference="Riley and Collins (2023)",
    cost="B",
)


@public_call
def instability(
    estimator: Learner,
    X: Features,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_resamples: int = 1000,
    resampling: Resampling | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
) -> Instability:
    """Report how often refits on bootstrap draws classify the training rows differently from a classifier.

    The procedure: draw `n_resamples` bootstrap samples, refit the whole classifier on each, classify all training rows
    with every refit, and compute for each row the share of refits whose class differs from that of `estimator`.

    Intervals have already made these refits: ``compare_intervals(...).instability`` and
    ``performance_interval(...).instability`` give the same result without further fits. For refits by other software,
    use `cudbound.instability_of`.

    Parameters
    ----------
    estimator : object
        Any scikit-learn classifier of two classes; if it is not fitted, a clone is fitted to these rows.
    X : array-like, shape (n_samples, n_features)
        The training rows, which a fitted estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels; at least two rows of each class.
    n_resamples : int, default=1000
        Number of bootstrap draws, with one refit each.
    sample_weight : array-like of float, shape (n_samples,), default=None
        Row weights with which the classifier was fitted; the refits use them, but all rows count equally.
    groups, resampling, rng, n_jobs
        As for `cudbound.compare_intervals`; the same `rng` gives the same draws as there.

    Returns
    -------
    Instability
        Prints the share of rows that more than 10 %, and more than 25 %, of the refits classify differently; has
        ``shares``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If an argument is out of range, or `X` and `y` do not fit the estimator.

    Notes
    -----
    It measures whether the class of a patient depends on who else happened to be in the training set, not whether the
    class is correct: a classifier that always predicts the same class is perfectly stable.

    References
    ----------
    Riley, R. D. and Collins, G. S. (2023). Stability of clinical prediction models developed using statistical or
    machine learning methods. Biometrical Journal 65, 2200302.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cudbound import instability
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> y = np.where(X[:, 0] + rng.normal(size=40) > 0, "ill", "well")
    >>> found = instability(LogisticRegression().fit(X, y), X, y, n_resamples=100, rng=0)
    >>> found.above(0.25) <= found.above(0.1)
    True
    >>> found.to_frame().columns.tolist()
    ['share', 'distance']
    """
    asked = RequestedMethods((READER,), {}, frozenset({READER.name}))
    question = Question.of(asked, n_resamples=n_resamples, resampling=resampling, rng=rng, n_jobs=n_jobs)
    _, failed, _, found = record_losses(question, estimator, X, y, groups, sample_weight)
    for error in failed.values():
        raise error
    assert found is not None, "the draws were refitted"
    return found
