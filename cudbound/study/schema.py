"""Tables of a file as frozen dataclasses: the names, types and rules of a dataclass are those of its table."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin

from cattrs import AttributeValidationNote, ClassValidationError, Converter, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override

from cudbound.hints import did_you_mean
from cudbound.inputs.csv_file import quoted
from cudbound.parameter_error import ParameterError

Made = TypeVar("Made")
#: Values of a file that stand for themselves, in words.
SCALARS = {int: "an integer", float: "a number", str: "a text", bool: "true or false", type(None): "nothing"}


def keys_of(model: type) -> tuple[str, ...]:
    """Return the keys of a table that becomes such a dataclass: the names of its fields.

    A field may have another key in its metadata, or None if no table has it.
    """
    return tuple(key for key in _keys(model).values() if key is not None)


def _keys(model: type) -> dict[str, str | None]:
    return {one.name: one.metadata.get("key", one.name) for one in fields(model)}


def structured(table: Mapping[str, Any], model: type[Made], *, other_keys: bool = False) -> Made:
    """Return a table of a file as a dataclass.

    Parameters
    ----------
    table : mapping
    model : type
        A dataclass. A value of the type of a field stands for itself, a single value for a list of one, and a table
        for pairs.
    other_keys : bool, default=False
        Whether the table may have keys that are not among the fields.

    Raises
    ------
    ValueError
        The message names the key, the rule and the value.
    """
    if not isinstance(table, Mapping):
        raise ValueError(f"must be a table. Got {table!r}.")
    try:
        return (_LENIENT if other_keys else _STRICT).structure(table, model)
    except ClassValidationError as error:
        raise ValueError(_in_words(error)) from error


@contextmanager
def placed(*place: str) -> Iterator[None]:
    """Say in which file and table something is wrong, in one line and in the words of a file."""
    try:
        yield
    except ValueError as error:
        message = _rule(error) if isinstance(error, ParameterError) else " ".join(str(error).split())
        raise ValueError(": ".join((*place, message))) from error


def _in_words(error: BaseException) -> str:
    """Say what is wrong with the first of the keys that are."""
    place: list[str] = []
    while isinstance(error, ClassValidationError):
        keys, error = _keys(error.cl), error.exceptions[0]
        notes = [one for one in getattr(error, "__notes__", ()) if isinstance(one, AttributeValidationNote)]
        place += [keys[one.name] or one.name for one in notes[:1]]
    if isinstance(error, ParameterError):
        return ": ".join([*place, _rule(error)]) if error.parameter else f"{place[-1]}{_rule(error)}"
    if isinstance(error, ForbiddenExtraKeysError):
        wrong = min(error.extra_fields)
        hint = did_you_mean(wrong, keys_of(error.cl), "the keys are")
        return ": ".join([*place, f"there is no key {quoted(wrong)}; {hint}"])
    if isinstance(error, KeyError):
        return f"{place[-1]} is missing"
    return ": ".join([*place, str(error)])


def _rule(error: ParameterError) -> str:
    return f"{error.parameter} must be {error.rule}. Got {error.value!r}.{error.hint}"


def _converter(*, other_keys: bool) -> Converter:
    # what is no table, list or scalar has been made before, such as a population
    converter = Converter(structure_fallback_factory=lambda _: lambda value, _: value)
    converter.register_structure_hook_func(_is_scalar, _scalar)
    for kind in (int, float, str, bool):
        converter.register_structure_hook(kind, _scalar)  # in place of what would turn 2.5 into 2

    def is_list(kind: Any) -> bool:
        return get_origin(kind) in (tuple, Sequence)

    def is_mapping(kind: Any) -> bool:
        return get_origin(kind) is Mapping

    @converter.register_structure_hook_factory(is_list)
    def _list(kind: Any) -> Callable[[Any, Any], Any]:
        inner = [one for one in get_args(kind) if one is not Ellipsis]
        pairs = get_origin(inner[0]) is tuple and get_args(inner[0])[0] is str
        if pairs:
            return lambda value, _: tuple(
                (key, converter.structure(one, get_args(inner[0])[1])) for key, one in _table(value).items()
            )

        def structure(value: Any, _: Any) -> tuple[Any, ...]:
            values = value if isinstance(value, list | tuple) else [value]
            if len(inner) > 1 and len(values) != len(inner):
                raise ParameterError("", f"a list of {len(inner)} values", value)
            return tuple(converter.structure(one, inner[0]) for one in values)

        return structure

    @converter.register_structure_hook_factory(is_mapping)
    def _mapping(kind: Any) -> Callable[[Any, Any], Any]:
        inner = get_args(kind)[1]
        return lambda value, _: {key: converter.structure(one, inner) for key, one in _table(value).items()}

    @converter.register_structure_hook_factory(is_dataclass)
    def _dataclass(model: Any) -> Callable[[Any, Any], Any]:
        renamed: Any = {name: override(rename=key, omit=key is None) for name, key in _keys(model).items()}
        make = make_dict_structure_fn(model, converter, _cattrs_forbid_extra_keys=not other_keys, **renamed)
        return lambda value, _: value if isinstance(value, model) else make(_table(value), model)

    return converter


def _is_scalar(kind: Any) -> bool:
    return all(one in SCALARS for one in _kinds(kind))


def _kinds(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _scalar(value: Any, kind: Any) -> Any:
    """Return a value as it is: an integer is a number, too, but true is no integer."""
    kinds = _kinds(kind)
    if type(value) not in kinds and not (type(value) is int and float in kinds):
        raise ParameterError("", " or ".join(SCALARS[one] for one in kinds if one is not type(None)), value)
    return value


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ParameterError("", "a table", value)
    return value


_STRICT, _LENIENT = _converter(other_keys=False), _converter(other_keys=True)
