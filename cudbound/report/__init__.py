"""Tables for people and programs: first numbers (`tables`), then rounding (`style`), then text (`render`)."""

from __future__ import annotations

from cudbound.report.render import FORMATS, render_table
from cudbound.report.tables import RunDescription

__all__ = ["FORMATS", "RunDescription", "render_table"]
