"""Compare the golden calls bit by bit, on the machine that made the file; --renew keeps the numbers of those named.

python tests/golden/compare.py [--renew] [NAME ...]
"""

from __future__ import annotations

import json
import sys

from golden_calls import CALLS, NUMBERS, differences, numbers_of


def main(*arguments: str) -> str | None:
    """Return what differs, or nothing."""
    names = [name for name in arguments if name != "--renew"] or list(CALLS)
    kept = json.loads(NUMBERS.read_text()) if NUMBERS.exists() else {}
    found = {name: numbers_of(name) for name in names}
    if "--renew" in arguments:
        kept = {name: found.get(name, kept.get(name)) for name in CALLS}
        NUMBERS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
        return None
    lines = [line for name in names for line in differences(kept.get(name), found[name], 0.0, name)]
    print(f"{len(names)} calls, {len(lines)} numbers differ")
    return "\n".join(lines) or None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
