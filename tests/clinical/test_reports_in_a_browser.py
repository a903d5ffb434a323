"""The reports in a browser: nothing leaves the page, nothing fails, and readers of any kind find their way."""

from __future__ import annotations

import os
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from data import sample
from sklearn.linear_model import LogisticRegression
from study_frames import store_of

from cudbound import clinical_report
from cudbound.study.study_report import write_report

pytestmark = pytest.mark.slow

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOSTILE = ["<script>alert(1)</script>", '=HYPERLINK("http://x")', "n" * 300, "$x_1$ & <b>"]
HOW = "this test needs a browser; on Debian, as root: apt-get install chromium"
#: Ratio of the luminances of text and what is behind it that WCAG 2.1 asks for, level AA.
CONTRAST = 4.5
#: Each text with its contrast.
LOW_CONTRAST = Path(__file__).with_name("low_contrast.js").read_text()


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        if os.environ.get("CUDBOUND_BROWSER") == "required":
            pytest.fail(HOW)
        pytest.skip(HOW)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module", params=["clinical", "study"])
def place(request, tmp_path_factory) -> Path:
    """A page whose names are hostile."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "study":
        store = store_of(folder / "study.sqlite", scenarios=("null", HOSTILE[0]))
        return write_report(store, folder / "report.html")
    X, y = sample(40, 4, labels=("=1+1", '<img src=x onerror="alert(1)">'))
    frame = pd.DataFrame(X, columns=HOSTILE)
    clf = LogisticRegression().fit(frame, y)
    report = clinical_report(clf, frame, y, event=y[np.argmax(y != "=1+1")], n_resamples=60, rng=0)
    return report.save(folder / "report.html")[0]


class Seen:
    """A page that is open, and what happened while it was opened."""

    def __init__(self, browser, place: Path, **context) -> None:
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("dialog", lambda dialog: self.messages.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(place.as_uri())

    def all(self, script: str):
        return self.page.evaluate(script)


@pytest.fixture
def see(browser, place):
    opened = []

    def open_page(**context):
        opened.append(Seen(browser, place, **context))
        return opened[-1]

    yield open_page
    for one in opened:
        one.context.close()


def test_nothing_leaves_the_page_and_nothing_fails(see, place):
    seen = see(viewport={"width": 1280, "height": 900})
    assert seen.messages == []
    assert {one for one in seen.requests if not one.startswith("data:")} == {place.as_uri()}
    assert (
        seen.all("document.querySelectorAll('img, iframe, object, script[src], link[rel=stylesheet]').length")
        == 0
    )


def test_headings_are_in_order(see):
    levels = see().all("[...document.querySelectorAll('h1, h2, h3, h4')].map((one) => +one.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_contents_lead_to_the_parts(see):
    seen = see(viewport={"width": 1280, "height": 900})
    links = seen.all(
        "[...document.querySelectorAll('nav a')].map((one) => one.getAttribute('href').slice(1))"
    )
    parts = seen.all("[...document.querySelectorAll('main section')].map((one) => one.id)")
    assert links == parts
    assert len(links) >= 5
    seen.page.click(f"nav a[href='#{links[-1]}']")
    top = seen.all(f"document.getElementById('{links[-1]}').getBoundingClientRect().top")
    height = seen.all("innerHeight")
    assert top < height
    nav = seen.all("document.querySelector('nav').getBoundingClientRect().top")
    assert 0 <= nav < 100, "the contents stay in sight"


def test_tables_have_captions_and_headers(see):
    seen = see()
    assert seen.all("document.querySelectorAll('table').length") >= 5
    assert seen.all("document.querySelectorAll('table:not(:has(caption))').length") == 0
    assert seen.all("document.querySelectorAll('table:not(:has(thead th))').length") == 0
    assert seen.all("document.querySelectorAll('th:not([scope])').length") == 0


def test_pictures_have_texts(see):
    texts = see().all(
        "[...document.querySelectorAll('svg')].filter((one) => !one.parentElement.closest('svg'))"
        ".map((one) => one.closest('[role=img]')?.getAttribute('aria-label') ?? '')"
    )
    assert len(texts) >= 1
    assert min(map(len, texts)) > 40


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out(see, scheme):
    found = see(color_scheme=scheme).all(LOW_CONTRAST)
    assert len(found) > 100
    assert [text for contrast, text in found if contrast < CONTRAST] == []


def test_dark_is_dark(see):
    def back(scheme):
        return see(color_scheme=scheme).all("getComputedStyle(document.body).backgroundColor")

    assert back("light") == "rgb(255, 255, 255)"
    assert max(map(int, back("dark")[4:-1].split(","))) < 60


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_no_wider_than_the_screen(see, width):
    seen = see(viewport={"width": width, "height": 800})
    assert seen.all("document.documentElement.scrollWidth") <= width


def test_columns_sort(see):
    seen = see()
    table = "document.querySelector('table.sortable')"
    cells = f"[...{table}.tBodies[0].rows].map((row) => row.cells[1].textContent.trim())"
    before = seen.all(cells)
    seen.page.click("table.sortable thead th:nth-child(2) button")
    assert seen.all(f"{table}.querySelectorAll('th')[1].getAttribute('aria-sort')") == "ascending"
    up = seen.all(cells)
    seen.page.click("table.sortable thead th:nth-child(2) button")
    down = seen.all(cells)
    assert sorted(before) == sorted(up) == sorted(down)
    assert list(map(float, up)) == sorted(map(float, before))
    assert list(map(float, down)) == sorted(map(float, before), reverse=True)


def test_print_is_the_text_alone(see):
    seen = see(color_scheme="dark")
    seen.page.emulate_media(media="print")
    assert seen.all("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert seen.all("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert seen.page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
