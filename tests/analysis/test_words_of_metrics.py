"""Words to paste: each metric has the title and the sources of what was computed for it, and remarks name theirs."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from cli_fakes import invoke
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from unwrapped import unwrapped

from cudbound import Metrics, compare_intervals, compare_learners
from cudbound.basis.exceptions import SmallSampleWarning
from cudbound.basis.method_card import GROUPED
from cudbound.basis.metric_words import COMPLEMENTS
from cudbound.intervals import METHODS
from cudbound.intervals.two_center import SOURCES, TITLE
from cudbound.metrics.metric import METRICS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Y = np.where(X[:, 0] + RNG.normal(size=50) > 0.2, "ill", "well")
CLF = LogisticRegression().fit(X, Y)
FEW = {"n_resamples": 40, "rng": 0}
BOTH = f"{TITLE}, for sensitivity and specificity, combined"
OF_CLASSES = {"clopper1934use", "efron1997improvements", "kohavi1995study"}
WITH_PREVALENCE = Metrics(["error", "ppv"], "ill", prevalence="sample")
HELD_TOGETHER = f"{BOTH} at both lower and at both upper limits, which hold together"
#: The title of two-center for a metric, and the sources beyond those of the error.
OF_METRICS = [
    (
        "ppv",
        {"prevalence": 0.2},
        f"{BOTH} at the given prevalence on the log odds (MOVER)",
        {"altman", "zou"},
    ),
    (
        "npv",
        {"prevalence": "sample"},
        f"{BOTH} with Clopper-Pearson limits of the prevalence on the log odds (MOVER)",
        {"altman", "zou"},
    ),
    (["ppv", "npv"], {"prevalence": 0.2, "joint": True}, HELD_TOGETHER, {"altman"}),
    ("lr+", {}, HELD_TOGETHER, {"deeks"}),
    ("lr-", {}, HELD_TOGETHER, {"deeks"}),
    (
        "net-benefit",
        {"prevalence": "sample", "threshold": 0.5},
        f"{TITLE}, for the mean cost, combined with Clopper-Pearson limits of the prevalence (MOVER)",
        {"vickers", "zou"},
    ),
    (
        "net-benefit",
        {"prevalence": 0.3, "threshold": 0.5},
        f"{TITLE}, for the mean cost, subtracted from the given prevalence",
        {"vickers", "kish"},
    ),
]


def keys(description) -> set[str]:
    return set(re.findall(r"^@\w+\{(\w+),", description.bibtex, re.MULTILINE)) - {"cudbound"}


def words_of(metric, clf=CLF, y=Y, **more):
    return compare_intervals(clf, X, y, metric=metric, **{"methods": "two-center"} | FEW | more).describe()


@pytest.mark.parametrize("metric", ["error", "sensitivity", "specificity", "fpr"])
def test_an_error_by_class_has_the_words_of_the_error(metric):
    description = words_of(Metrics(metric, "ill"))
    assert f"by: {TITLE} (two-center)." in description.methods
    assert keys(description) == OF_CLASSES
    assert (f"Methods for an error were applied to 1 - {metric}." in description.methods) == (
        metric in COMPLEMENTS
    )


@pytest.mark.parametrize(("metric", "settings", "title", "further"), OF_METRICS)
def test_what_is_derived_says_from_what_and_how(metric, settings, title, further):
    description = words_of(Metrics(metric, "ill", **settings))
    assert f"by: {title} (two-center)." in description.methods
    assert {re.sub(r"\d.*", "", key) for key in keys(description) - OF_CLASSES} == further


@pytest.mark.parametrize(
    ("metric", "words", "sources"),
    [
        ("auc", f"{TITLE} (two-center)", {"hanley", "delong", "newcombe"}),
        ("brier", f"{TITLE} (two-center)", set()),
    ],
)
def test_scores_and_probabilities_have_no_words_of_the_error(metric, words, sources):
    description = words_of(Metrics(metric, "ill"))
    assert words in description.methods
    assert "CUD" not in str(description)
    assert {re.sub(r"\d.*", "", key) for key in keys(description)} == {"clopper", "efron", "kohavi"} | sources


def test_groups_have_the_sources_of_groups():
    groups = np.repeat(np.arange(25), 2)
    assert "obuchowski1997nonparametric" in keys(words_of(Metrics("auc", "ill"), groups=groups))
    assert "delong1988comparing" not in keys(words_of(Metrics("auc", "ill"), groups=groups))
    assert "kish1965survey" in keys(words_of("error", groups=groups))


@pytest.mark.parametrize("classes", [2, 3])
def test_no_word_of_the_bound_where_it_is_not_used(classes):
    y = Y if classes == 2 else np.where(X[:, 0] > 0.6, "a", np.where(X[:, 1] > 0, "b", "c"))
    clf = DecisionTreeClassifier(random_state=0).fit(X, y)
    table = compare_intervals(clf, X, y, methods="two-center", **FEW)
    for words in (str(table.describe()), table.to_text(style="paper"), table.to_text()):
        assert "CUD" not in words
    assert "mean of the cross-validated and the .632+ estimate" in unwrapped(table.to_text())


def test_remarks_name_their_measures():
    description = words_of(Metrics(["sensitivity", "specificity", "auc", "brier"], "ill")).results
    for words in (
        "Remarks on sensitivity: based on 20 events",
        "Remarks on specificity: based on 30 non-events",
        "Remarks on AUC (c-statistic) and Brier score: based on 20 events and 30 non-events",
    ):
        assert re.search(rf"{re.escape(words)}[.;]", description)
    assert "Remarks: " not in description
    joint = words_of(Metrics(["sensitivity", "specificity"], "ill", joint=True)).results
    assert "Remarks on all of these measures: draws within the classes." in joint


def test_several_ways_of_one_method_are_told_apart_on_paper():
    metrics = Metrics(["error", "ppv", "auc"], "ill", prevalence=0.2)
    text = unwrapped(
        compare_intervals(CLF, X, Y, methods="two-center", metric=metrics, **FEW).to_text(style="paper")
    )
    assert (
        f"Method: {TITLE} (two-center, for error and AUC (c-statistic)); the same, for sensitivity and specificity, "
        "combined" in text
    )
    two = compare_intervals(CLF, X, Y, methods=["two-center", "test-set-wilson"], metric=metrics, **FEW)
    text = unwrapped(two.to_text(style="paper"))
    assert (
        f"{METHODS['two-center'].reading('scores').title}, for AUC (c-statistic): based on 20 events" in text
    )
    assert f"{METHODS['test-set-wilson'].title}, for error: based on 25 held-out rows" in text


def test_complements_are_those_of_the_metrics():
    assert set(COMPLEMENTS) == {name for name, metric in METRICS.items() if metric.complement}


# --- learners

LEARNERS = {"ridge": CLF, "tree": DecisionTreeClassifier(max_depth=2).fit(X, Y)}
DIFFERENCE = "error(ridge) - error(tree)"


@pytest.mark.parametrize(
    ("arguments", "null", "alternative"),
    [
        ({}, "equal errors", "unequal errors"),
        ({"alternative": "less"}, "error(ridge) >= error(tree)", "error(ridge) < error(tree)"),
        ({"alternative": "greater"}, "error(ridge) <= error(tree)", "error(ridge) > error(tree)"),
        ({"null": 0.1}, f"{DIFFERENCE} = 0.1", f"{DIFFERENCE} other than 0.1"),
        ({"null": 0.1, "alternative": "less"}, f"{DIFFERENCE} >= 0.1", f"{DIFFERENCE} < 0.1"),
        ({"null": 0.1, "alternative": "equivalent"}, f"|{DIFFERENCE}| >= 0.1", f"|{DIFFERENCE}| < 0.1"),
    ],
)
def test_a_p_value_is_against_the_null_hypothesis(arguments, null, alternative):
    table = compare_learners(LEARNERS, X, Y, rng=0, **arguments)
    description = table.describe()
    assert re.search(rf"p-value [<\d.]+ against {re.escape(null)}\)", description.results)
    noted = f"p-value: against {null}. A small one is evidence for {alternative}; a large one does not show {null}."
    for style in ("full", "paper"):
        assert noted in unwrapped(table.to_text(style=style))
    assert "averaged over training sets of n1 = 45 cases." in description.methods
    assert "The target is the difference between the errors on new cases" in description.methods
    assert ("schuirmann1987comparison" in keys(description)) == (arguments.get("alternative") == "equivalent")


def test_a_provisional_method_says_so_wherever_it_is_pasted():
    table = compare_learners(LEARNERS, X, Y, metric="auc", rng=0)
    description = table.describe()
    assert "difference of two AUCs (provisional) (auc-difference)" in description.methods
    assert "against equal AUCs) (provisional: studied only in the 20 settings" in description.results
    paper = table.to_text(style="paper")
    assert "Difference of AUCs (95% CI)" in paper
    assert "(provisional)" in unwrapped(paper)
    assert "provisional" in table.to_text()
    assert "provisional" in table.to_frame().loc[0, "remarks"]
    assert "the AUCs of the two fitted classifiers" in explained("auc-difference")


def test_pairs_keep_their_names_on_paper():
    three = {**LEARNERS, "stump": DecisionTreeClassifier(max_depth=1).fit(X, Y)}
    paper = compare_learners(three, X, Y, rng=0).to_text(style="paper")
    for pair in ("ridge - tree", "ridge - stump", "tree - stump"):
        assert re.search(rf"^{pair} ", paper, re.MULTILINE)
    title = METHODS["repeated-k-fold-t"].title
    assert f"Method: {title} (repeated-k-fold-t)." in unwrapped(paper)


# --- explain


def explained(name):
    """Return what the command says about a method, in one line."""
    return " ".join(invoke("explain", name).stdout.split())


def test_every_way_of_a_method_is_explained():
    for name, card in METHODS.items():
        explanation = explained(name)
        for other in card.variants.values():
            for words in (other.title, other.formula, other.tendency, other.reference):
                assert " ".join(words.split()) in explanation
    explanation = explained("two-center")
    assert "two-center for the AUC: Binomial limits" in explanation
    assert "aims at conditional: the AUC of the classifier fitted to these data" in explanation
    assert (
        "predictive values: combined at the given prevalence on the log odds (MOVER); Altman" in explanation
    )
    assert "derived" not in explained("5x2cv-t")  # whose means no metric can take apart
    page = invoke("explain", "two-center", "--format", "markdown").stdout
    assert "two-center for the AUC: " in page
    assert "two-center for the Brier score: " in page


def test_own_words_of_a_row_are_those_of_its_table():
    row = compare_intervals(CLF, X, Y, methods="two-center", **FEW).rows[0]
    assert row.title == TITLE
    assert row.words.reference == SOURCES
    assert replace(row, words=None).title == "two-center"


# --- options

WAYS = [
    (name, *key)
    for name, method in METHODS.items()
    for key in method.ways
    if method.gives_interval and key != GROUPED
]
WAYS += [(name, *key) for name in ("newcombe", "hanley-mcneil") for key in METHODS[name].ways]


@pytest.mark.parametrize(("name", "option", "value"), dict.fromkeys(WAYS))
def test_another_way_of_a_method_has_its_own_title_and_sources(name, option, value):
    method = METHODS[name]
    value = {"rope": 0.05, "repair": "drop-first-split"}.get(option, value)
    metric = "error" if method.reads == "classes" else Metrics("auc", "ill")
    table = compare_intervals(CLF, X, Y, methods=[(name, {option: value})], metric=metric, **FEW)
    words = method.ways.get((option, value), method.ways.get((option, None)))
    assert table[name].words == words
    assert f"by: {words.title} ({name})." in table.describe().methods
    assert words.reference in explained(name)
    default = compare_intervals(CLF, X, Y, methods=name, metric=metric, **FEW)[name]
    assert default.words == method.words


@pytest.mark.parametrize("name", ["delong-10-fold", "delong-training"])
def test_a_variance_for_groups_is_not_said_to_be_that_of_delong(name):
    auc, groups = Metrics("auc", "ill"), np.repeat(np.arange(25), 2)
    description = compare_intervals(CLF, X, Y, methods=name, metric=auc, groups=groups, **FEW).describe()
    assert "with Obuchowski's variance" in description.methods
    assert keys(description) == {"obuchowski1997nonparametric"}
    assert keys(words_of(auc, methods=name)) == {"delong1988comparing"}


def test_sources_are_those_of_what_was_computed():
    """A region of equivalence, mid-p and scores for two proportions are cited only where they are used."""
    learners = {"a": LEARNERS["ridge"], "b": LEARNERS["tree"]}

    def of(name, **options):
        return keys(compare_learners(learners, X, Y, methods=[(name, options)], **FEW).describe())

    assert of("corrected-resampled-t") == {"nadeau2003inference"}
    assert of("corrected-resampled-t", rope=0.1) == {"nadeau2003inference", "benavoli2017time"}
    assert of("mcnemar") == {"mcnemar1947note", "bonett2012adjusted"}
    assert "fagerland2013mcnemar" in of("mcnemar", form="mid-p")
    assert keys(words_of("error", methods="test-set-wilson-corrected")) == {"newcombe1998a"}


def test_a_sensitivity_is_for_the_training_sets_of_the_folds():
    table = compare_intervals(CLF, X, Y, methods=["k-fold-t"], metric=Metrics("sensitivity", "ill"), **FEW)
    assert str(table["k-fold-t"].estimand) == "expected(n1=45)"


def test_remarks_of_a_metric_are_in_terms_of_its_loss_only_if_they_have_numbers_on_it():
    row = compare_intervals(CLF, X, Y, methods="test-set-wilson", metric="accuracy", **FEW).rows[0]
    assert row.remarks == (f"based on {row.tested}",)
    new = np.random.default_rng(1).normal(size=(40, 3))
    labels = CLF.predict(new)
    labels[np.flatnonzero(labels == "well")[0]] = "ill"  # one event is missed, no non-event
    metric = Metrics("ppv", "ill", prevalence=0.2)
    table = compare_intervals(
        CLF, X, Y, methods="test-set-wald", metric=metric, test_set=(new, labels), **FEW
    )
    assert table.rows[0].degenerate.startswith("specificity: all losses on the test set are 0")


def test_weights_of_rows_are_told():
    weights = np.linspace(0.5, 2.0, len(Y))
    clf = LogisticRegression().fit(X, Y, sample_weight=weights)
    table = compare_intervals(clf, X, Y, methods="two-center", sample_weight=weights, **FEW)
    assert "Rows were weighted:" in table.describe().methods
    assert "Rows were weighted:" in table.to_text()
    assert "kish1965survey" in keys(table.describe())
    assert "weighted" not in str(words_of("error"))


def test_a_stated_prevalence_is_of_another_population():
    metrics = Metrics(["sensitivity", "ppv", "net-benefit"], "ill", prevalence=0.2, threshold=0.5)
    table = compare_intervals(CLF, X, Y, methods="two-center", metric=metrics, **FEW)
    assert (
        "the sensitivity of the classifier fitted to these data, on new cases from the same population."
        in (table.describe().methods)
    )
    of_both = (
        "the positive predictive value and net benefit of the classifier fitted to these data, on new cases from a "
        "population with the prevalence 0.2."
    )
    assert of_both in table.describe().methods
    assert f'Estimand "conditional": {of_both}' in table.report().notes
    assert "positive predictive value of this classifier on new cases at the prevalence 0.2 is" in " ".join(
        table.report().headline
    )
    said = words_of(Metrics("ppv", "ill", prevalence="sample"))
    assert "on new cases from the same population." in said.methods


def test_remarks_on_two_learners_have_their_names():
    learners = {"my_ridge": LEARNERS["ridge"], "b": LEARNERS["tree"]}
    row = compare_learners(learners, X, Y, methods="mcnemar", **FEW).rows[0]
    assert "only my_ridge wrong = " in row.all_remarks()
    assert "only b wrong = " in row.all_remarks()
    assert "only_a_wrong" in row.details


def test_an_interval_that_is_undefined_is_none():
    tree = DecisionTreeClassifier(max_depth=1).fit(X, Y)
    table = compare_intervals(tree, X, Y, methods=["two-center", "two-stage"], n_resamples=20, rng=0)
    for text in (table.describe().results, str(table["two-stage"])):
        assert "(no 95% confidence interval)" in text
    assert "(no limits)" in table.to_markdown(style="paper")
    upper = compare_intervals(tree, X, Y, methods="two-stage", alternative="less", n_resamples=20, rng=0)
    assert "(no 95% confidence limit)" in upper.describe().results
    cases = (X[:20] + 5.0, np.full(20, "well"))
    with pytest.warns(SmallSampleWarning):
        of_none = compare_intervals(
            CLF, X, Y, methods="test-set-wilson", metric="sensitivity", event="ill", test_set=cases
        )
    assert of_none.rows[0].all_remarks() == "undefined: based on 0 events of 20 test cases"
