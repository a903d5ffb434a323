"""Finished texts: HTML pages from templates, and files that are written all or none."""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from importlib import resources
from pathlib import Path
from typing import Any

from cudbound.basis.exceptions import install_command
from cudbound.basis.words import format_cell, printable


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


def write_texts(texts: Mapping[Path, str | bytes]) -> None:
    """Write texts as UTF-8, and bytes unchanged: a reader finds either the old files or all the new ones.

    Each text goes to a temporary file in its own folder; when all are written, they are renamed. A link keeps its
    target; a device or a pipe is written directly, since it must not be replaced.

    Parameters
    ----------
    texts : mapping of path to str or bytes
        Characters that UTF-8 cannot encode are escaped.

    Raises
    ------
    OSError
        If a file cannot be written; the error names it, and all files are left unchanged.
    """
    contents = {
        path: text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
        for path, text in texts.items()
    }
    devices = [path for path in contents if path.exists() and not path.is_file() and not path.is_dir()]
    finished = {}
    path = Path()
    try:
        with ExitStack() as stack:
            for path in [path for path in contents if path not in devices]:
                finished[path] = _written_beside(path, contents[path], stack)
            for path, temporary in finished.items():
                temporary.replace(path.resolve())
            for path in devices:
                path.write_bytes(contents[path])
    except OSError as error:  # on a full disk it names no file
        raise OSError(error.errno, error.strerror, str(path)) from error


def _written_beside(path: Path, content: bytes, stack: ExitStack) -> Path:
    """Write a temporary file that can replace `path`, and remove it at the end if it does not."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    target = path.resolve()
    temporary = target.with_name(f".cudbound-{secrets.token_hex(8)}")
    stack.callback(temporary.unlink, missing_ok=True)
    with temporary.open("xb") as file:
        file.write(content)
    if target.exists():
        shutil.copymode(target, temporary)
    return temporary
