"""Words for a paper, their sources, formulas of cards, and tables that texts cannot break out of."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from scipy import stats
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cudbound import (
    ConfidenceInterval,
    IntervalEstimate,
    IntervalTable,
    compare_intervals,
    compare_learners,
    from_records,
)
from cudbound.adapters.parts import procedure_in_words
from cudbound.basis.exceptions import SmallSampleWarning
from cudbound.basis.results import Estimand
from cudbound.basis.words import COMPLEMENTS, format_difference, format_proportion
from cudbound.intervals import METHODS
from cudbound.metrics.metric import METRICS
from cudbound.point_estimates import ESTIMATORS
from cudbound.records import FoldLosses, SplitLosses, TestSetLosses
from cudbound.report.sentences import cited

# ---- words for a paper ----


@pytest.mark.parametrize("name", [*METHODS, *ESTIMATORS])
def test_every_method_cites_what_its_reference_names(name):
    """Every year in brackets behind a name belongs to an entry of the bibliography, and no other entry is cited."""
    reference = (METHODS.get(name) or ESTIMATORS[name]).reference
    years = set(re.findall(r"[a-z.]\.? \((\d{4})[ab]?\)", reference))
    *entries, software = cited([reference])
    assert {re.search(r"^  year *= \{(\d+)\}", entry, re.MULTILINE)[1] for entry in entries} == years
    assert software.startswith("@software{cudbound,")
    for entry in entries:
        first = re.search(r"^  author *= \{(?:\{)?([\w-]+)", entry, re.MULTILINE)[1]
        assert first in reference


def test_sources_are_told_apart_by_all_names():
    found = cited(["Efron and Tibshirani (1997)", "Noma et al. (2021)"])
    keys = [entry.partition("{")[2].partition(",")[0] for entry in found]
    assert keys == ["efron1997improvements", "noma2021confidence", "cudbound"]
    first, second = (cited([f"Newcombe (1998{letter})"])[0] for letter in "ab")
    assert "single proportion" in first
    assert "difference" in second
    assert len(cited(["Tibshirani (1997), Other and Wilson (1927), Stein (1981)"])) == 1


def test_methods_that_keep_the_steps_are_named():
    """`cud` and `aci` never fit a scaler again; other methods with refits do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    clf = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    for methods in (["aci"], ["cud"], ["cud", "aci", "kohavi-normal"], ["kohavi-normal"]):
        words = compare_intervals(clf, X, y, methods=methods, n_resamples=20, rng=0).describe().methods
        assert ("The CUD bound keeps the steps" in words) == ("cud" in methods)
        assert ("The adaptive interval keeps the steps" in words) == ("aci" in methods)
        assert ("every refit repeated" in words) == ("kohavi-normal" in methods)


def test_every_step_of_a_pipeline_is_said_in_words():
    coded = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    columns = ColumnTransformer([("a", SimpleImputer(), [0]), ("b", coded, [1])], remainder="passthrough")
    steps = (columns, StandardScaler(), SelectKBest(k=3), PCA(2), LogisticRegression())
    search = GridSearchCV(make_pipeline(*steps), {"logisticregression__C": [0.1, 1.0]}, cv=5)
    assert procedure_in_words(CalibratedClassifierCV(search)) == (
        "SimpleImputer (strategy = mean)",
        "SimpleImputer (strategy = most_frequent)",
        "OneHotEncoder",
        "StandardScaler",
        "SelectKBest (k = 3)",
        "PCA (n_components = 2)",
        "LogisticRegression with a ridge penalty",
        "tuning of C by 5-fold cross-validation, again in every fit",
        "CalibratedClassifierCV",
    )


# ---- one method in full ----


#: 40 new cases of which 7 are wrong, 5 folds of 8 rows, and 5 splits into 90 and 10.
WRONG = np.array([1] * 7 + [0] * 33)
FOLDS = FoldLosses.from_blocks(
    np.array([1, 0, 0, 1, 1, 0, 0, 0] * 2 + [0, 0, 1, 0, 0, 0, 0, 0] * 3).reshape(5, 8)
)
SPLITS = SplitLosses([0.2, 0.3, 0.25, 0.15, 0.35], 90, 10)
MEANS = {"u": 0.25, "s": np.std([0.2, 0.3, 0.25, 0.15, 0.35], ddof=1)}
OF_FOLDS = {"k": 5, "u": FOLDS.losses.mean(), "s": np.std([3 / 8, 3 / 8, 1 / 8, 1 / 8, 1 / 8], ddof=1)}
TEST_SET = {"m": 40, "k": 7, "r": 7 / 40, "s": np.std(WRONG, ddof=1), "z": stats.norm.ppf(0.975)}

CLOSED = {
    "test-set-wald": (TestSetLosses(WRONG, 60), TEST_SET),
    "test-set-wilson": (TestSetLosses(WRONG, 60), TEST_SET),
    "test-set-wilson-corrected": (TestSetLosses(WRONG, 60), TEST_SET),
    "test-set-agresti-coull": (TestSetLosses(WRONG, 60), {**TEST_SET, "c": None}),
    "single-split-t": (TestSetLosses(WRONG, 60), TEST_SET),
    "resampled-t": (SPLITS, {**MEANS, "J": 5}),
    "corrected-resampled-t": (SPLITS, {**MEANS, "J": 5, "n1": 90, "n2": 10}),
    "k-fold-t": (FOLDS, OF_FOLDS),
    "grandvalet-bengio-t": (FOLDS, {**OF_FOLDS, "rho": 0.7}),
    "bayle-cv": (FOLDS, {**OF_FOLDS, "n": 40, "v": FOLDS.losses.var()}),
}


def evaluated(text: str, values: dict[str, float]) -> float:
    """Compute a formula that is written as the cards write them."""
    text = re.sub(r"(?<=[\w)]) (?=[(\w])", " * ", text.replace("; ", ", ").replace("^", "**"))
    functions = {"sqrt": np.sqrt, "z": values.get("z"), "t": lambda p, v: stats.t.ppf(p, v), "d": 0.05}
    if "z(" in text:
        functions["z"] = stats.norm.ppf
    return float(eval(text, {"__builtins__": {}}, {**values, **functions}))


@pytest.mark.parametrize("name", CLOSED)
def test_the_formula_gives_the_limits_of_the_method(name):
    recorded, values = CLOSED[name]
    formula, *definitions = METHODS[name].formula.split("; ")
    if re.search(r"\bt\(", formula):  # whose degrees of freedom stand after a semicolon
        formula = f"{formula}; {definitions[0]}"
    if "c" in values:
        text = re.search(r"c = (.*?);", METHODS[name].formula)
        assert text is not None
        values = {**values, "c": evaluated(text[1], TEST_SET)}
    sides = formula.split(" and ") if " and " in formula else [formula.replace("+/-", sign) for sign in "-+"]
    row = from_records(recorded, name)
    expected = [evaluated(side, values) for side in sides]
    assert [row.raw_interval.low, row.raw_interval.high] == pytest.approx(expected, abs=1e-12)


# ---- words to paste ----


RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Y = np.where(X[:, 0] + RNG.normal(size=50) > 0.2, "ill", "well")
CLF = LogisticRegression().fit(X, Y)
FEW = {"n_resamples": 40, "rng": 0}


def keys(description) -> set[str]:
    return set(re.findall(r"^@\w+\{(\w+),", description.bibtex, re.MULTILINE)) - {"cudbound"}


def words_of(metric, clf=CLF, y=Y, **more):
    return compare_intervals(clf, X, y, metric=metric, **{"methods": "two-center"} | FEW | more).describe()


def test_complements_are_those_of_the_metrics():
    assert set(COMPLEMENTS) == {name for name, metric in METRICS.items() if metric.complement}


LEARNERS = {"ridge": CLF, "tree": DecisionTreeClassifier(max_depth=2).fit(X, Y)}


def test_sources_are_those_of_what_was_computed():
    """Mid-p and scores for two proportions are cited only where they are used."""
    learners = {"a": LEARNERS["ridge"], "b": LEARNERS["tree"]}

    def of(name, **options):
        return keys(compare_learners(learners, X, Y, methods=[(name, options)], **FEW).describe())

    assert of("corrected-resampled-t") == {"nadeau2003inference"}
    assert of("mcnemar") == {"mcnemar1947note", "bonett2012adjusted"}
    assert "fagerland2013mcnemar" in of("mcnemar", form="mid-p")
    assert keys(words_of("error", methods="test-set-wilson-corrected")) == {"newcombe1998a"}


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
            CLF, X, Y, methods="test-set-wilson", metric="sensitivity", event="ill", new_cases=cases
        )
    assert of_none.rows[0].all_remarks() == "undefined: based on 0 events of 20 test cases"


# ---- tables for a paper ----


def test_a_remark_on_one_metric_names_it_below_a_table_for_a_paper():
    metrics = ["error", "sensitivity", "specificity"]
    table = compare_intervals(
        CLF, X, Y, methods="two-center", metric=metrics, event="ill", n_resamples=20, rng=0
    )
    events = int(np.sum(Y == "ill"))
    text = table.to_markdown(style="paper")
    assert f"- two-center / sensitivity: based on {events} events." in text
    assert f"- two-center / specificity: based on {len(Y) - events} non-events." in text


HOSTILE = "<script>alert(1)</script> & \"x\" 'y' \\input{z} 5% \x1b[2J"


def row(method: str, limits: tuple[float, float], **given: object) -> IntervalEstimate:
    fields = {"estimate": 0.1649, "estimand": Estimand("conditional"), "confidence_level": 0.95, "n_fits": 1}
    words = METHODS[method].words() if method in METHODS else None
    return IntervalEstimate(
        method=method, raw_interval=ConfidenceInterval(*limits), words=words, **(fields | given)
    )


@pytest.mark.parametrize(
    ("value", "decimals", "percent", "text"),
    [
        (0.1649, 2, False, "0.16"),
        (0.1649, None, True, "16.5%"),
        (0.1649, 0, True, "16%"),
        (0.0004, 2, False, "<0.01"),
        (0.0004, 0, True, "<1%"),
        (0.9996, None, True, ">99.9%"),
        (0.9996, 4, False, "0.9996"),
        (0.0, 1, True, "0.0%"),
        (1.0, 0, True, "100%"),
        (1.0, 0, False, "1"),
    ],
)
def test_digits_and_percentages(value, decimals, percent, text):
    assert format_proportion(value, decimals, percent) == text
    if value > 0.0:
        mirrored = {"<": ">-", ">": "<-"}.get(text[0], "-" + text[0]) + text[1:]
        assert format_difference(-value, decimals, percent) == mirrored


def test_hostile_text_in_html():
    table = IntervalTable((row(HOSTILE, (0.1, 0.2), remarks=(HOSTILE,)),))
    for text in (table.to_html(), table.to_html(style="paper"), table._repr_html_()):
        assert "<script>" not in text
        assert "\x1b" not in text
        assert "&lt;script&gt;" in text
    page = ET.fromstring(table.to_html().split("\n", 1)[1].replace('<meta charset="utf-8">', ""))
    first, *cells, last = [cell.text for cell in page.iter("td")]
    assert first == last == HOSTILE.replace("\x1b", "\\x1b")
    assert [cell.strip() for cell in cells[:4]] == ["0.165", "0.100", "0.200", "0.100"]
