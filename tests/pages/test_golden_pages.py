"""What people read is what was read last."""

from __future__ import annotations

import pytest
from golden_pages import FOLDER, PAGES, without_digits, written


def test_every_page_is_kept():
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == sorted(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_words_stay(name):
    kept = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    renew = f"write it anew by: make pages PAGES={name}; then read what changed"
    assert without_digits(written(name)) == without_digits(kept), renew
