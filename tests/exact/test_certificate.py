"""Certificates: claims about one draw, checked again in exact arithmetic, saved, loaded and tampered with."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from data import fitted_sample
from exact_oracle import ExactDraw, exact_q
from nasty_draws import nearly_singular_reproducer
from oracles import enumerate_q
from random_problems import make

from cudbound import Certificate, Problem, cud_interval, solve_draws
from cudbound.basis.solved_draws import SolveStatus
from cudbound.problem.problem import read_arrays


def example(side: str = "both") -> tuple[Problem, Certificate]:
    """Return a certified draw of twelve rows, with 0 < Q < 1."""
    rng = np.random.default_rng(3)
    design = np.column_stack([np.ones(12), rng.normal(size=(12, 2))])
    labels = np.where(design[:, 1] + rng.normal(size=12) > 0, 1.0, -1.0)
    coef = np.linalg.lstsq(design, labels)[0]
    problem = Problem.of(design, labels, coef, [[0, 2, 1, 0, 3, 1, 1, 0, 2, 1, 0, 1], [1] * 12])
    return problem, Certificate.of(problem, solve_draws(problem, side=side), 0)


def with_exact_witness(problem: Problem, certificate: Certificate) -> Certificate:
    """Put the witness close to the best point of the best cell: what is tested is not how good the solver's is."""
    cell = exact_q(problem, 0, certificate.side)
    inside, _ = ExactDraw(problem, 0).realize(cell, cell.value - Fraction(1, 10**10), certificate.side)
    return replace(certificate, witness=np.array([float(value) for value in inside]))


@pytest.mark.parametrize("side", ["both", "positive", "negative"])
def test_a_true_claim_is_proved(side: str) -> None:
    problem, certificate = example(side)
    certificate = with_exact_witness(problem, certificate)
    assert certificate.side == side
    assert certificate.status is SolveStatus.OPTIMAL
    found = certificate.verify()
    assert found.lower_proved
    assert found.upper_proved
    assert found.holds
    assert found.counterexample is None
    assert str(found) == "the lower bound is proved by its witness; the upper bound holds"
    enumerated = enumerate_q(problem, 0)
    expected = {"both": enumerated.q, "positive": enumerated.q_plus, "negative": enumerated.q_minus}[side]
    assert float(found.witness_value) == pytest.approx(max(expected, 0.0), abs=1e-8)


@pytest.mark.parametrize(
    "kind", ["general", "integer_features", "penalized", "signed_weights", "fewer_rows_than_coefficients"]
)
def test_claims_of_the_solver_are_proved(kind: str) -> None:
    for seed in range(5):
        problem = make(kind, seed)
        draws = solve_draws(problem)
        for draw in range(problem.n_draws):
            assert Certificate.of(problem, draws, draw).verify().upper_proved, (kind, seed, draw)


def test_too_large_a_lower_bound_is_not_proved() -> None:
    problem, certificate = example()
    certificate = with_exact_witness(problem, certificate)
    found = replace(certificate, lower=certificate.lower + 1e-6).verify()
    assert not found.lower_proved
    assert not found.holds
    assert str(found).startswith("the lower bound is NOT proved: the value of the witness is 0.")
    assert replace(certificate, lower=certificate.lower + 1e-10).verify().lower_proved
    assert not replace(certificate, lower=np.inf).verify().lower_proved
    assert not replace(certificate, lower=np.nan).verify().lower_proved


def test_rounding_grows_with_the_scores() -> None:
    problem = Problem.of([[1.0], [-2.0]], [1, -1], [1.0], [[1, 1]], weights=[[1e6, 0.0]], localization=0.0)
    claim = Certificate(problem, "both", 1e6, 1e6, SolveStatus.OPTIMAL, np.array([-1.0]))
    assert claim.verify().holds
    assert replace(claim, lower=1e6 + 1e-4, upper=1e6 - 1e-4).verify().holds
    assert not replace(claim, lower=1e6 + 1e-2).verify().lower_proved
    assert replace(claim, upper=1e6 - 1e-2).verify().upper_proved is False


def test_too_small_an_upper_bound_is_refuted_by_a_classifier() -> None:
    problem, certificate = example()
    claimed = certificate.upper - 1e-6
    found = replace(certificate, upper=claimed).verify()
    assert found.upper_proved is False
    assert not found.holds
    assert "the upper bound is WRONG: a classifier has the value 0." in str(found)
    # the counterexample by the definition, in plain floating point
    assert found.counterexample is not None
    coef = np.array([float(value) for value in found.counterexample])
    score = problem.score_weights(0) @ (np.where(problem.design @ coef >= 0, 1.0, -1.0) != problem.labels)
    excess = problem.mean_loss(0, coef) - problem.mean_loss(0, problem.coef)
    assert abs(score) * np.clip(1.0 - problem.localization * excess, 0.0, 1.0) > claimed
    assert found.counterexample_value is not None
    assert found.counterexample_value > claimed
    assert replace(certificate, upper=np.nan).verify().upper_proved is False
    assert replace(certificate, upper=np.inf).verify().upper_proved


def test_a_claim_of_a_quarter_on_the_nearly_singular_draw_is_refuted() -> None:
    # what an earlier solver said; (-1, .4) is worth .5
    problem = nearly_singular_reproducer()
    claim = Certificate(problem, "both", 0.25, 0.25, SolveStatus.OPTIMAL, np.array([-1.0, 0.4]))
    found = claim.verify()
    assert found.witness_value == Fraction(1, 2)
    assert found.upper_proved is False
    assert found.counterexample_value == Fraction(1, 2)
    assert replace(claim, lower=0.5, upper=0.5).verify().holds


def test_a_witness_on_a_hyperplane_proves_nothing() -> None:
    problem = Problem.of([[1.0, 0.0], [0.0, 1.0]], [1, -1], [1.0, -1.0], [[2, 0]])
    draws = solve_draws(problem)
    certificate = Certificate.of(problem, draws, 0)
    assert certificate.lower > 0.1
    found = replace(certificate, witness=np.array([1.0, 0.0])).verify()
    assert found.on_hyperplanes == (1,)
    assert not found.lower_proved
    assert "the witness has score 0 for the rows [1]" in str(found)
    assert not replace(certificate, witness=np.array([np.nan, 0.0])).verify().lower_proved


def test_what_is_too_large_is_not_checked() -> None:
    problem, certificate = example()
    certificate = with_exact_witness(problem, certificate)
    found = certificate.verify(most_flats=10)
    assert found.upper_proved is None
    assert found.holds
    assert str(found).endswith("the upper bound was not checked: there are too many flats")


def test_every_draw_of_an_interval_has_one() -> None:
    result = cud_interval(*fitted_sample(25, seed=8), n_resamples=20, rng=1)
    for draw in range(20):
        certificate = result.certificate(draw)
        assert certificate.upper == result.draws.upper[draw]
        assert certificate.verify().upper_proved
    assert result.certificate(-1).problem.digest() == result.certificate(19).problem.digest()
    with pytest.raises(IndexError, match=r"must be below 20, the number of draws\. Got 20"):
        result.certificate(20)
    with pytest.raises(TypeError):
        result.certificate(1.5)


def test_draws_of_another_problem_are_refused() -> None:
    problem, _ = example()
    draws = solve_draws(problem)
    with pytest.raises(ValueError, match="'draws' must belong to 'problem'"):
        Certificate.of(replace(problem, localization=1.0), draws, 0)


def test_other_losses_are_refused() -> None:
    design, labels = [[1.0, -1.0], [1.0, 0.5], [1.0, 2.0]], [-1, 1, -1]
    counts = [[2, 1, 0]]
    problem = Problem.of(design, labels, [0.1, 0.2], counts, loss="logistic", penalty=0.1)
    with pytest.raises(ValueError, match="'problem' has 'logistic' instead"):
        Certificate.of(problem, solve_draws(problem), 0).verify()


def test_a_file_says_the_same(tmp_path: Path) -> None:
    problem, certificate = example("negative")
    path = tmp_path / "draw"
    certificate.save(path)
    loaded = Certificate.load(path)
    assert (loaded.side, loaded.lower, loaded.upper, loaded.status) == (
        certificate.side,
        certificate.lower,
        certificate.upper,
        certificate.status,
    )
    assert np.array_equal(loaded.witness, certificate.witness)
    assert loaded.problem.digest() == problem.select(0).digest()
    assert loaded.verify() == certificate.verify()
    # it is a problem file as well
    assert Problem.load(path).digest() == problem.select(0).digest()


def test_a_problem_file_is_no_certificate(tmp_path: Path) -> None:
    problem, _ = example()
    problem.save(tmp_path / "problem.npz")
    with pytest.raises(ValueError, match="is not a certificate of format 1; save it again"):
        Certificate.load(tmp_path / "problem.npz")
    (tmp_path / "text").write_text("no zip file")
    with pytest.raises(ValueError, match="is not a certificate of format 1"):
        Certificate.load(tmp_path / "text")
    with pytest.raises(FileNotFoundError):
        Certificate.load(tmp_path / "none")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("side", np.str_("left"), "is damaged"),
        ("status", np.int64(77), "is damaged"),
        ("lower", np.str_("0.1"), "is damaged"),
        ("upper", np.array([0.1, 0.2]), "is not a certificate"),
        ("witness", np.zeros(2), "is damaged"),
        ("witness", np.zeros(3, dtype=int), "is damaged"),
        ("counts", np.ones((2, 12), dtype=np.int32), "is damaged"),
        (
            "counts",
            np.ones((1, 12), dtype=np.int32),
            "was changed: its problem is not the one that was saved",
        ),
        ("localization", np.float64(3.0), "was changed: its problem is not the one that was saved"),
        ("side", np.str_("positive"), "was changed: its problem is not the one that was saved"),
        ("labels", np.zeros(12), "'labels' must be -1 or"),
        ("certificate_format", np.int64(2), "is not a certificate of format 1"),
        ("format", np.int64(2), "is not a problem file of format 1"),
    ],
)
def test_tampered_files_are_refused(tmp_path: Path, name: str, value: object, message: str) -> None:
    _, certificate = example()
    certificate.save(tmp_path / "true.npz")
    np.savez(tmp_path / "false.npz", **{**read_arrays(tmp_path / "true.npz"), name: value})
    with pytest.raises(ValueError, match=message):
        Certificate.load(tmp_path / "false.npz")


def test_tampered_claims_are_found_out(tmp_path: Path) -> None:
    problem, certificate = example()
    with_exact_witness(problem, certificate).save(tmp_path / "true.npz")
    stored = read_arrays(tmp_path / "true.npz")

    def verdict(**changed: object) -> tuple[bool, bool | None]:
        np.savez(tmp_path / "changed.npz", **{**stored, **changed})
        found = Certificate.load(tmp_path / "changed.npz").verify()
        return found.lower_proved, found.upper_proved

    assert verdict() == (True, True)
    assert verdict(upper=stored["upper"] * 0.9) == (True, False)
    assert verdict(lower=stored["lower"] * 1.1) == (False, True)
    assert verdict(witness=problem.coef) == (False, True)
    assert verdict(witness=np.full(3, np.inf)) == (False, True)


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    _, certificate = example()
    certificate.save(tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    for length in (0, 10, len(content) // 2, len(content) - 10):
        (tmp_path / "cut").write_bytes(content[:length])
        with pytest.raises(ValueError, match="is not a certificate of format 1"):
            Certificate.load(tmp_path / "cut")
