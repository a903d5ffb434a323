"""Run the command as ``python -m cudbound.cli``."""

from __future__ import annotations

from cudbound.cli.commands.group import main

main(prog_name="cudbound")
