"""Text of a table with its wrapped sentences in one line each, as they were before they were wrapped."""

from __future__ import annotations

import re


def unwrapped(text: str) -> str:
    """Join the lines that hang with the ones before them, also those of the lists under a table."""
    return re.sub(r"(?<=\S)\n(?:  |    )(?=\S)", " ", text)
