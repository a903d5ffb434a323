"""The error for an invalid argument; this module imports nothing, so every module can raise it."""

from __future__ import annotations


class ParameterError(ValueError):
    """An argument is invalid; the message gives its name, the rule and the value.

    Attributes
    ----------
    parameter : str
        Name of the argument.
    rule : str
        What it must be, after "must be".
    value : object
        What it was.
    hint : str, default=""
        What to do, in a sentence with a blank before it: a way on, or what may have been meant, as
        `cudbound.basis.hints.suggestion` says it.
    """

    def __init__(self, parameter: str, rule: str, value: object, hint: str = ""):
        super().__init__(f"The '{parameter}' parameter must be {rule}. Got {value!r} instead.{hint}")
        self.parameter = parameter
        self.rule = rule
        self.value = value
        self.hint = hint

    def __reduce__(self) -> tuple[type, tuple[str, str, object, str]]:
        """Return what pickle needs to rebuild the error in another process."""
        return type(self), (self.parameter, self.rule, self.value, self.hint)
