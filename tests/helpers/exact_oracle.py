"""The oracle in rational arithmetic for tests: `cudbound.exact`, with which certificates are verified too."""

from cudbound.exact.arrangement import score_weights
from cudbound.exact.quadratic import localization, mean_loss
from cudbound.exact.supremum import ExactCell, ExactDraw, exact_q, exceeds

__all__ = ["ExactCell", "ExactDraw", "exact_q", "exceeds", "localization", "mean_loss", "score_weights"]
