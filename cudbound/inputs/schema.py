"""Tables of a design file or a saved result as frozen dataclasses, which define their names, types and rules."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin

from cattrs import AttributeValidationNote, ClassValidationError, Converter, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override

from cudbound.basis.exceptions import ParameterError, UnsupportedEstimatorError, did_you_mean
from cudbound.inputs.data_file import quoted

Model = TypeVar("Model")
KeysOf = Callable[[type], dict[str, str]]
#: Scalar values of a file, in words.
SCALARS = {int: "an integer", float: "a number", str: "a text", bool: "true or false", type(None): "nothing"}


def keys_of(model: type) -> dict[str, str]:
    """Return the fields of a dataclass that a table of a design file may have, and the key of each, usually the same.

    The metadata of a field may give another key, or None if tables do not have the field.
    """
    keys = {entry.name: entry.metadata.get("key", entry.name) for entry in fields(model)}
    return {name: key for name, key in keys.items() if key is not None}


def names_of(model: type) -> dict[str, str]:
    """Return the fields of a dataclass as the keys of its table, as in a saved result."""
    return {entry.name: entry.name for entry in fields(model)}


class Reader:
    """A reader of tables with certain keys; what is not a table, a list or a scalar is an object already.

    Parameters
    ----------
    keys_of : callable
        ``keys_of(model)`` returns the key of each field.
    """

    def __init__(self, keys_of: KeysOf):
        self.keys_of = keys_of
        self.converter = Converter(structure_fallback_factory=lambda _: lambda value, _: value)
        self.converter.register_structure_hook_func(lambda kind: SCALARS.keys() >= set(_kinds(kind)), _scalar)
        for kind in (int, float, str, bool):
            self.converter.register_structure_hook(kind, _scalar)  # cattrs itself would turn 2.5 into 2
        self.converter.register_structure_hook_func(_comes_from(Mapping), self._mapping)
        self.converter.register_structure_hook_factory(_comes_from(tuple, Sequence), self._list)
        self.converter.register_structure_hook_factory(is_dataclass, self._dataclass)

    def structured(self, table: Any, model: type[Model]) -> Model:
        """Return a table as a dataclass.

        Parameters
        ----------
        table : mapping
        model : type
            A dataclass. A value of the field's type is used directly, a single value as a list of one, and a table as
            pairs.

        Raises
        ------
        ValueError
            The message names the key, the rule and the value.
        """
        try:
            return self.converter.structure(table, model)
        except (ClassValidationError, ParameterError) as error:
            raise ValueError(_in_words(error, self.keys_of)) from error

    def _mapping(self, value: Any, kind: Any) -> dict[str, Any]:
        of_values = (*get_args(kind), Any, Any)[1]
        return {key: self.converter.structure(entry, of_values) for key, entry in _table(value).items()}

    def _list(self, kind: Any) -> Callable[[Any, Any], Any]:
        inner = [argument for argument in get_args(kind) if argument is not Ellipsis]
        structure = self.converter.structure
        if get_origin(inner[0]) is tuple:  # pairs
            of_values = get_args(inner[0])[1]
            return lambda value, _: tuple(
                (key, structure(entry, of_values))
                for key, entry in _table(dict(value) if _are_pairs(value) else value).items()
            )

        def entries(value: Any, _: Any) -> tuple[Any, ...]:
            values = value if isinstance(value, list | tuple) else [value]
            if len(inner) > 1 and len(values) != len(inner):
                raise ParameterError("", f"a list of {len(inner)} values", value)
            return tuple(structure(entry, inner[0]) for entry in values)

        return entries

    def _dataclass(self, model: Any) -> Callable[[Any, Any], Any]:
        keys, names = self.keys_of(model), [entry.name for entry in fields(model)]
        renamed: Any = {name: override(rename=keys.get(name), omit=name not in keys) for name in names}
        make = make_dict_structure_fn(model, self.converter, _cattrs_forbid_extra_keys=True, **renamed)
        return lambda value, _: value if isinstance(value, model) else make(_table(value), model)


@contextmanager
def placed(*place: str) -> Iterator[None]:
    """Prefix errors with the file and table, in one line and in terms of a design file."""
    try:
        yield
    except (ValueError, UnsupportedEstimatorError) as error:
        raise ValueError(": ".join((*place, _in_words(error, keys_of)))) from error


def _in_words(error: BaseException, keys_of: KeysOf) -> str:
    """Return the problem of the first invalid key."""
    place: list[str] = []
    while isinstance(error, ClassValidationError):
        keys, error = keys_of(error.cl), error.exceptions[0]
        notes = getattr(error, "__notes__", ())
        place += [keys[note.name] for note in notes if isinstance(note, AttributeValidationNote)][:1]
    message = " ".join(str(error).split())
    if isinstance(error, ParameterError):
        name = error.parameter or (place.pop() if place else "it")
        message = f"{name} must be {error.rule}. Got {error.value!r:.100}.{error.hint}"
    elif isinstance(error, ForbiddenExtraKeysError):
        wrong, names = min(error.extra_fields), keys_of(error.cl).values()
        message = f"there is no key {quoted(wrong)}; {did_you_mean(wrong, names, 'the keys are')}"
    elif isinstance(error, KeyError):
        message = f"{place.pop()} is missing"
    return ": ".join([*place, message])


def _kinds(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _scalar(value: Any, kind: Any) -> Any:
    """Return a value unchanged: an integer is also a number, but true is not an integer."""
    kinds = _kinds(kind)
    if type(value) not in kinds and not (type(value) is int and float in kinds):
        words = [SCALARS[scalar] for scalar in kinds if scalar is not type(None)]
        raise ParameterError("", " or ".join(words), value)
    if int not in kinds and type(value) is int:
        float(value)  # it may be too large for a number
    return value


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ParameterError("", "a table", value)
    return value


def _are_pairs(value: Any) -> bool:
    """Whether a value is a list of pairs, as which a saved result has a table."""
    return isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)


def _comes_from(*origins: Any) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) in origins


#: The reader of design files.
structured = Reader(keys_of).structured
