"""Studies in which patients have several rows: what is drawn, what is true, and who is told."""

from __future__ import annotations

import numpy as np
import pytest

from cudbound import LeastSquaresClassifier, compare_intervals
from cudbound.study import run_study
from cudbound.study.design.design_file import read_design
from cudbound.study.populations.population import Cases, Truth
from cudbound.study.populations.worlds import (
    FlippedLabels,
    Gaussians,
    HiddenSubgroup,
    Noise,
    Outliers,
    Patients,
)
from cudbound.study.run.replicate_rows import Key
from cudbound.study.run.runner import replay
from cudbound.study.run.store import Store

#: One in 150000 for a correct program, and every seed is fixed.
LARGEST_Z = 4.5
SETTINGS = (
    'n_samples = 30\nn_replicates = 2\nn_resamples = 20\nmethods = ["two-center", "langford-binomial"]\n'
)
WITH = '[[scenario]]\nname = "with"\nworld = "gaussians"\nrows_per_patient = [2, 6]\n'
WITHOUT = WITH.replace('"with"', '"without"') + 'groups = false\nsamples_of = "with"\n'


def read(folder, text):
    path = folder / "d.toml"
    path.write_text(text)
    return read_design(path)


@pytest.mark.parametrize(
    "world",
    [
        Gaussians(positive_share=0.3, positive_sd=2.0),
        FlippedLabels(distance=2.0, flip_rate=0.2),
        HiddenSubgroup(positive_share=0.3),
        Outliers(),
        Noise(positive_share=0.1),
    ],
)
def test_the_error_on_rows_of_new_patients_is_that_of_the_world(world):
    classifier = LeastSquaresClassifier().fit(*world.sample(40, np.random.default_rng(0)))
    patients = Patients(world, within_patient=0.7)
    drawn = patients.draw(400_000, np.random.default_rng(1))
    wrong = (classifier.predict(drawn.X) != drawn.y).astype(float)
    exact = patients.true_error(classifier)
    assert exact.standard_error == 0.0
    apart = np.bincount(drawn.groups, weights=wrong - exact.value)  # independent, with mean 0
    assert abs(apart.sum()) < LARGEST_Z * np.sqrt((apart**2).sum())


@pytest.mark.parametrize("within", [0.0, 0.5, 0.9])
def test_rows_of_a_patient_share_their_class_and_as_much_of_the_variance_as_is_said(within):
    world = Gaussians(distance=2.0, n_features=2, positive_sd=2.0)
    drawn = Patients(world, (2, 6), within).draw(60_000, np.random.default_rng(0))
    assert len(drawn.y) == 60_000
    sizes = np.bincount(drawn.groups)
    assert set(sizes[:-1]) == {2, 3, 4, 5, 6}
    assert np.bincount(sizes[:-1])[2:] == pytest.approx(len(sizes) / 5, rel=0.05)
    first = np.flatnonzero(np.diff(drawn.groups, prepend=-1))[:-1]
    assert (drawn.y[first] == drawn.y[first + 1]).all()
    for label, sd in ((0, 1.0), (1, 2.0)):
        mine = first[drawn.y[first] == label]
        apart = (drawn.X - [(2 * label - 1) * 1.0, 0.0]) / sd
        assert (apart[mine] * apart[mine + 1]).mean(axis=0) == pytest.approx(within, abs=0.05)
        assert (apart[mine] ** 2).mean(axis=0) == pytest.approx(1.0, abs=0.08)


@pytest.mark.parametrize(
    ("y", "groups", "expected"),
    [([0, 0, 0, 1, 1], None, 2), ([0, 0, 0, 1, 1], [0, 0, 1, 2, 2], 1), ([0, 0, 1, 1], [0, 1, 0, 1], 2)],
)
def test_the_rarer_class_is_counted_in_patients(y, groups, expected):
    assert Cases(np.zeros((len(y), 1)), np.array(y), lambda _: Truth(0.5), groups).n_rarer == expected


# --- in designs and studies


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.ManyFeaturesWarning")  # few patients
@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.SmallSampleWarning")  # seven groups are few
def test_the_same_samples_are_analyzed_with_and_without_groups(tmp_path):
    study = read(tmp_path, SETTINGS + WITH + WITHOUT)
    store = tmp_path / "s.sqlite"
    run_study(study, store)
    with Store.open(store) as opened:
        for number in range(2):
            told, untold = (opened.replicate(Key(name, 30, number)) for name in ("with", "without"))
            assert told.failure is None
            assert (told.truth, told.training_error) == (untold.truth, untold.training_error)
            assert told.intervals != untold.intervals
            assert "independent" in told.intervals[1].remarks
            assert "independent" not in untold.intervals[1].remarks
            assert replay(study, store, "without", 30, number) == untold
    # the same numbers come out of a call with the patients of the sample
    scenario = study.scenarios[0]
    rng = study.rng("with", 30, 1)
    drawn = scenario.population.draw(30, rng)
    while drawn.n_rarer < 2:
        drawn = scenario.population.draw(30, rng)
    table = compare_intervals(
        LeastSquaresClassifier().fit(drawn.X, drawn.y),
        drawn.X,
        drawn.y,
        methods=["two-center"],
        n_resamples=20,
        groups=drawn.groups,
        rng=rng,
    )
    with Store.open(store) as opened:
        stored = opened.replicate(Key("with", 30, 1)).intervals[0]
    assert (stored.low, stored.high) == (table.rows[0].low, table.rows[0].high)
