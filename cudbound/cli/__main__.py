"""Run the command as ``python -m cudbound.cli``."""

from __future__ import annotations

from cudbound.cli.start import main

main()
