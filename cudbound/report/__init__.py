"""Tables for people and programs: first numbers (`tables`), then rounding (`style`), then text (`render`)."""

from __future__ import annotations

from cudbound.report.render import FORMATS, render_methods, render_report, render_table
from cudbound.report.tables import ComparisonRun, RunDescription

__all__ = ["FORMATS", "ComparisonRun", "RunDescription", "render_methods", "render_report", "render_table"]
