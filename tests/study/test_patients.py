"""Studies in which patients have several rows: what is drawn, what is true, and who is told."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from cudbound import LeastSquaresClassifier, compare_intervals
from cudbound.study import Study, run_study
from cudbound.study.design.design_file import read_design, template_text
from cudbound.study.design.scenario import Scenario, describe, differences
from cudbound.study.populations.patients import Patients
from cudbound.study.populations.population import Cases, Truth
from cudbound.study.populations.worlds import (
    FlippedLabels,
    Gaussians,
    HiddenSubgroup,
    Noise,
    Outliers,
    Quadratic,
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


def test_labels_of_a_patient_are_flipped_together():
    world = FlippedLabels(distance=60.0, n_features=1, flip_rate=0.3)  # the feature says the class of before
    drawn = Patients(world).draw(4000, np.random.default_rng(0))
    flipped = (drawn.X[:, 0] > 0.0) != (drawn.y == 1)
    shares = np.bincount(drawn.groups, weights=flipped) / np.bincount(drawn.groups)
    assert set(shares) == {0.0, 1.0}
    assert shares.mean() == pytest.approx(0.3, abs=0.06)


@pytest.mark.parametrize(
    ("y", "groups", "expected"),
    [([0, 0, 0, 1, 1], None, 2), ([0, 0, 0, 1, 1], [0, 0, 1, 2, 2], 1), ([0, 0, 1, 1], [0, 1, 0, 1], 2)],
)
def test_the_rarer_class_is_counted_in_patients(y, groups, expected):
    assert Cases(np.zeros((len(y), 1)), np.array(y), lambda _: Truth(0.5), groups).n_rarer == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Quadratic(),), "'world' parameter"),
        ((Gaussians(), (0, 6)), "'rows_per_patient' parameter"),
        ((Gaussians(), (3, 2)), "'rows_per_patient' parameter"),
        ((Gaussians(), 3), "'rows_per_patient' parameter"),
        ((Gaussians(), (2, 6), 1.0), "'within_patient' parameter"),
    ],
)
def test_patients_refuse_what_they_cannot_be(arguments, message):
    with pytest.raises(ValueError, match=message):
        Patients(*arguments)


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


def test_the_shipped_design_has_every_sample_with_and_without_groups(tmp_path):
    study = read(tmp_path, template_text("grouped-rows"))
    told, untold = study.scenarios[::2], study.scenarios[1::2]
    assert len(told) == 6 * 3 * 4
    for one, other in zip(told, untold, strict=True):
        assert other.samples_of == one.name == other.name.replace("without", "with")
        assert (one.groups, other.groups) == (True, False)
        assert (one.population, one.metric) == (other.population, other.metric)
        assert isinstance(one.population, Patients)


def test_groups_and_their_sizes_are_part_of_what_identifies_a_study(tmp_path):
    described = describe(read(tmp_path, SETTINGS + WITH + WITHOUT))
    for change, shown in (
        (("[2, 6]", "[2, 5]"), "rows_per_patient"),
        (("[2, 6]", "[2, 6]\nwithin_patient = 0.4"), "within_patient"),
        (("groups = false\n", ""), "groups: stored false, now true"),
        (('samples_of = "with"\n', ""), 'samples_of: stored "with", now nothing'),
    ):
        other = describe(read(tmp_path, (SETTINGS + WITH + WITHOUT).replace(*change)))
        assert any(shown in one for one in differences(described, other))


def test_a_scenario_is_described_by_what_differs_from_the_study():
    scenario = Scenario("g", Gaussians(), LeastSquaresClassifier)
    study = Study("s", (scenario,), (20,), 1, ("two-center",))
    assert describe(study)["scenarios"]["g"].keys() == {
        "title",
        "population",
        "parameters",
        "classifier",
        "n_features",
        "groups",
        "description",
    }
    other = replace(study, scenarios=(replace(scenario, name="h"), replace(scenario, samples_of="h")))
    assert other.rng("g", 20, 0).random() == study.rng("h", 20, 0).random()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            WITH.replace("[2, 6]", "4"),
            "rows_per_patient must be the smallest and the largest number of rows per patient. Got 4.",
        ),
        (WITH.replace("gaussians", "donut"), "world must be a world of normal classes"),
        (WITH + "groups = 1\n", "groups must be true or false"),
        ('[[scenario]]\nworld = "gaussians"\ngroups = false\n', "rows_per_patient must be the smallest"),
        (WITHOUT, "samples_of must be the name of an earlier scenario"),
        (
            WITH + WITHOUT.replace("[2, 6]", "[2, 5]"),
            "earlier scenario with the same world",
        ),
        (
            WITH + WITHOUT + WITHOUT.replace('"without"', '"third"').replace('"with"', '"without"'),
            "and its own samples. Got 'without'",
        ),
    ],
)
def test_designs_refuse_what_patients_cannot_be(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(tmp_path, SETTINGS + text)


def test_methods_that_would_take_patients_apart_are_refused_where_they_are_told(tmp_path):
    settings = SETTINGS.replace('"langford-binomial"', '"nested-cv"')
    with pytest.raises(
        ValueError, match="nested-cv would split the rows of a patient; leave these methods out"
    ):
        read(tmp_path, settings + WITH)
    alone = WITHOUT.replace('samples_of = "with"\n', "")
    assert read(tmp_path, settings + alone).scenarios[0].groups is False
