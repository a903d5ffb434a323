"""Pages of HTML as tests read them."""

from __future__ import annotations

import html.parser

VOID = {"meta", "br", "link", "img", "hr", "input"}


class Page(html.parser.HTMLParser):
    """Tags, attributes, headings and table cells of a page; refuses elements that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.headings: list[str] = []
        self.cells: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "h2":
            self.headings.append("")
        if tag == "td":
            self.cells.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend(attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["h2"]:
            self.headings[-1] += data
        if self.open[-1:] == ["td"]:
            self.cells[-1] += data
