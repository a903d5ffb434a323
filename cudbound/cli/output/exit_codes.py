"""The exit codes of the command."""

from __future__ import annotations

UNUSABLE = 1
USAGE_ERROR = 2
NOT_CERTIFIED = 3
DISAGREES = 4
INTERRUPTED = 130

EXIT_CODES = """\b
Exit codes:
    0  success
    1  the data, or a file, cannot be used: one line on stderr says why
    2  the command line is wrong: unknown option, level outside (0, 1)
    3  the table was written, but a limit or rounding left a bound of cud,
       two-center or aci unproved: the larger value was used
    4  a saved result does not agree with the data, or with itself
  130  stopped by Ctrl-C; no file was written"""
