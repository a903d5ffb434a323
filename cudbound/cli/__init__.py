"""The command ``cudbound``.

Exit codes
----------
0
    Success.
1
    The data, or a file, cannot be used; one line on stderr gives the reason.
2
    The command line itself is wrong: an unknown option or method, a level outside (0, 1).
3
    The table was written, but a limit or rounding left a bound of cud or aci unproved: the larger value was used.
4
    A saved result does not agree with the data, or with itself; the table shows the differences.
130
    Stopped by Ctrl-C; no file was written.
"""
