"""The error for an invalid argument; this module imports nothing, so every module can raise it."""

from __future__ import annotations


class ParameterError(ValueError):
    """An argument is invalid; the message gives its name, the rule and the value.

    Attributes
    ----------
    parameter : str
        Name of the argument.
    rule : str
        The rule, after "must be".
    value : object
        The invalid value.
    hint : str, default=""
        A remedy or the closest valid name, in a sentence after a blank, as from `cudbound.basis.hints.suggestion`.
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
