"""Run the command, as ``python -m cudbound``."""

from __future__ import annotations

from cudbound.cli.__main__ import main

if __name__ == "__main__":
    main()
