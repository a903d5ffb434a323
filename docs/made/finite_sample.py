"""Draw docs/pictures/finite_sample.svg: ``python docs/made/finite_sample.py docs/pictures/finite_sample.svg``.

Upper limits at level .95 for a classifier that gets 8 of 50 training cases wrong, and 4 of 25 test cases.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp

from cudbound.basis.proportions import inverted_binomial_interval
from cudbound.plotting.display import COLORS

N, WRONG, DELTA = 50, 8, 0.05
#: Coefficients of the classifier, intercept included.
N_COEFFICIENTS = 4


def compression_limit(k: int, n: int = N, delta: float = DELTA) -> float:
    """Return the limit of Campi and Garatti (2023) for a classifier that k of its n cases determine."""
    m = np.arange(k, n)
    ratios = gammaln(m + 1) - gammaln(m - k + 1) - gammaln(n + 1) + gammaln(n - k + 1)
    return float(
        brentq(
            lambda eps: math.log(delta / n) + logsumexp(ratios - (n - m) * math.log1p(-eps)), k / n, 1 - 1e-9
        )
    )


def pac_bayes_limit(error: float, divergence: float, n: int = N, delta: float = DELTA) -> float:
    """Return the kl limit of Maurer (2004) for a classifier that is drawn at random."""
    allowed = (divergence + math.log(2 * math.sqrt(n) / delta)) / n

    def kl(p: float) -> float:
        return error * math.log(error / p) + (1 - error) * math.log((1 - error) / (1 - p))

    return float(brentq(lambda p: kl(p) - allowed, error, 1 - 1e-9))


def limits() -> dict[str, float]:
    """Return the bars of the picture, from the top down."""
    rate = WRONG / N
    return {
        "50 new cases, 8 wrong": inverted_binomial_interval(WRONG, N, 1 - 2 * DELTA).high,
        "25 test cases, 4 wrong": inverted_binomial_interval(4, 25, 1 - 2 * DELTA).high,
        "PAC-Bayes, drawn rule, KL = 2": pac_bayes_limit(rate, 2.0),
        "compression, 4 + 8 cases": compression_limit(N_COEFFICIENTS + WRONG),
        "uniform deviation, slack alone": rate + 3 * math.sqrt(math.log(2 / DELTA) / (2 * N)),
        "PAC-Bayes, the rule itself": min(2 * pac_bayes_limit(rate, 2.0), 1.0),
    }


def draw(path: Path) -> None:
    """Draw the picture."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    bars = limits()
    with mpl.rc_context({"svg.hashsalt": "finite_sample", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.0, 3.0), layout="constrained")
        axes = figure.subplots()
        places = np.arange(len(bars))[::-1]
        axes.barh(places, list(bars.values()), height=0.6, color=COLORS[2])
        for place, value in zip(places, bars.values(), strict=True):
            axes.text(value + 0.01, place, f"{value:.2f}", va="center")
        axes.axvline(WRONG / N, color="0.3", linestyle="--")
        axes.text(WRONG / N + 0.005, len(bars) - 0.45, "training error .16", color="0.3", va="bottom")
        axes.set_yticks(places, list(bars))
        axes.set_xlim(0.0, 1.08)
        axes.set_xlabel("upper limit for the error, level .95")
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
