"""HTML pages from templates that share one style: self-contained and without scripts."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from typing import Any

from cudbound.basis.exceptions import install_command
from cudbound.basis.rounding import format_cell, printable


def page(template: str, **context: Any) -> str:
    """Fill a template of this package, escaping every text.

    Parameters
    ----------
    template : str
        Its name in ``cudbound/report/templates``.
    **context
        Variables of the template.

    Raises
    ------
    ImportError
        If jinja2 is not installed; the message shows the install command.
    """
    script = _read("page.js")
    # the browser runs this script alone, whatever else should have found its way into the page
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    filled: str = (
        templates()
        .get_template(template)
        .render(style=_read("page.css"), script=script, script_hash=digest, **context)
    )
    return filled


def templates() -> Any:
    """Return the templates; raise ImportError with the install command if jinja2 is not installed."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            f"An HTML report needs jinja2, which is not installed; get it with: {install_command('study')}"
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(cell=format_cell, printable=printable)
    return environment


def _read(name: str) -> str:
    return resources.files("cudbound.report").joinpath("templates", name).read_text("utf-8")
