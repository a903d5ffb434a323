"""The file of a command, looked at as text before any option that takes longer to check."""

from __future__ import annotations

from typing import Any

import click

from cudbound.inputs.data_file import DataFile
from cudbound.inputs.first_look import FirstLook, first_look


def look_at(**values: Any) -> FirstLook:
    """Return the file that options describe, as text; they must name an event, or all classes."""
    if not values["positive"] and not values.get("all_classes"):
        raise click.MissingParameter(param_hint="'--positive'", param_type="option")
    return first_look(DataFile(**values))
