"""Frozen dataclasses as objects of JSON, by the annotations of their fields: written, and read after strict checks.

What is read may come from anybody: nothing of it is used before it has the kind that the annotation says, and what is
wrong is said in one line that names the field.
"""

from __future__ import annotations

import functools
import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from cudbound.exceptions import SavedResultError

#: Letters of a text.
MAX_TEXT = 1_000
#: Lists and objects of a file: two for each draw, and few others. Empty ones take twenty times their place in memory.
MAX_CONTAINERS = 1_000_000
#: The largest number; products of two are still finite where one is a count.
MAX_NUMBER = 1e300


@dataclass(frozen=True)
class Between:
    """Limits of a number, in its annotation."""

    low: float
    high: float


@dataclass(frozen=True)
class Words:
    """The only texts that a field may have, in its annotation."""

    known: tuple[str, ...]


@dataclass(frozen=True)
class Numbers:
    """An array, in its annotation."""

    kind: type
    n_dimensions: int


#: A text, a number, true or false, as it is: the label of a class.
Label: TypeAlias = Any
#: The value of an option, which may be infinite.
Scalar: TypeAlias = Annotated[Any, bool | int | float | str | None]
Vector: TypeAlias = Annotated[NDArray[np.float64], Numbers(float, 1)]
Matrix: TypeAlias = Annotated[NDArray[np.float64], Numbers(float, 2)]
Counts: TypeAlias = Annotated[NDArray[np.int32], Numbers(int, 2)]


def parse(content: bytes) -> dict[str, Any]:
    """Return the object of a file of strict JSON.

    Raises
    ------
    SavedResultError
        If it is something else, names a field twice, or holds lists without measure.
    """
    n_containers = content.count(b"[") + content.count(b"{")
    if n_containers > MAX_CONTAINERS:
        raise SavedResultError(
            f"it holds {n_containers:,} lists; no saved result has above {MAX_CONTAINERS:,}"
        )
    try:
        found = json.loads(content.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except SavedResultError:
        raise
    except (ValueError, RecursionError) as error:
        raise SavedResultError("it is not written in JSON") from error
    if not isinstance(found, dict):
        raise SavedResultError("it holds no object of JSON")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise SavedResultError("a field stands in it twice")
    return found


def _no_number(text: str) -> float:
    raise SavedResultError(f"it holds {text}, which is no number of JSON")


def read(kind: Any, place: str, value: Any) -> Any:
    """Return a value of JSON as its annotation says.

    Raises
    ------
    SavedResultError
        If it is another value; the message names the place.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        rule = inner[1]
        if isinstance(rule, Numbers):
            return _array(rule, place, value)
        if isinstance(rule, types.UnionType):
            return read(rule, place, value)
        if isinstance(rule, Words):
            right = isinstance(value, str) and value in rule.known
            check(right, place, f"one of {', '.join(rule.known)}", value)
            return value
        found = read(inner[0], place, value)
        check(rule.low <= found <= rule.high, place, f"from {rule.low:g} to {rule.high:.6g}", value)
        return found
    if origin in (Union, types.UnionType):
        return _one_of(inner, place, value)
    if origin is tuple:
        size = None if inner[-1] is Ellipsis else len(inner)
        right = isinstance(value, list) and size in (None, len(value))
        check(right, place, "a list" if size is None else f"a list of {size}", value)
        return tuple(read(inner[0], f"{place}[{number}]", one) for number, one in enumerate(value))
    if origin is Mapping:
        check(isinstance(value, dict), place, "an object", value)
        return {name: read(inner[1], _inside(place, name), one) for name, one in value.items()}
    return read_object(kind, place, value) if is_dataclass(kind) else _plain(kind, place, value)


def read_object(kind: Any, place: str, value: Any) -> Any:
    """Return the dataclass whose fields an object of JSON has: all of them, and no other."""
    check(isinstance(value, dict), place, "an object", value)
    kinds = _kinds(kind)
    for name in value:
        check(name in kinds, _inside(place, name), "left out: no such field is known", value[name])
    for name in kinds:
        if name not in value:
            raise SavedResultError(f"{_inside(place, name)!r} is missing")
    return kind(**{name: read(one, _inside(place, name), value[name]) for name, one in kinds.items()})


@functools.cache
def _kinds(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {entry.name: hints[entry.name] for entry in fields(kind)}


def _one_of(kinds: tuple[Any, ...], place: str, value: Any) -> Any:
    """Return a value of the first kind that it is of; the last says what is wrong."""
    if value is None and type(None) in kinds:
        return None
    *others, last = (kind for kind in kinds if kind is not type(None))
    for kind in others:
        try:
            return read(kind, place, value)
        except SavedResultError:
            continue
    return read(last, place, value)


def _plain(kind: Any, place: str, value: Any) -> Any:
    right, rule = _PLAIN[kind]
    check(right(value), place, rule, value)
    if kind is float:
        return math.inf if value == "inf" else float(value)
    return value


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= MAX_NUMBER  # not True, and an int may have no double


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_TEXT


#: What is of a kind, and how that is said.
_PLAIN: dict[Any, tuple[Callable[[Any], bool], str]] = {
    bool: (lambda value: isinstance(value, bool), "true or false"),
    int: (lambda value: type(value) is int, "a whole number"),
    float: (lambda value: value == "inf" or _is_number(value), 'a number or "inf"'),
    str: (_is_text, f"a text of at most {MAX_TEXT:,} letters"),
    Any: (
        lambda value: isinstance(value, bool) or _is_text(value) or _is_number(value),
        "a text, a number, true or false",
    ),
}


def _array(rule: Numbers, place: str, value: Any) -> NDArray[Any]:
    check(isinstance(value, list), place, "a list", value)
    flat = value
    if rule.n_dimensions == 2:
        lengths = {len(one) if isinstance(one, list) else -1 for one in value}
        check(len(lengths) <= 1 and -1 not in lengths, place, "a list of lists of one length", value)
        flat = [entry for one in value for entry in one]
    if rule.kind is int:
        most = np.iinfo(np.int32).max
        right = set(map(type, flat)) <= {int} and (not flat or (min(flat) >= 0 and max(flat) <= most))
        check(right, place, f"a list of lists of whole numbers from 0 to {most}", value)
    else:
        check(all(map(_is_number, flat)), place, f"a list of numbers up to {MAX_NUMBER:g}", value)
    found = np.array(value, dtype=np.int32 if rule.kind is int else np.float64)
    return found.reshape(len(value), -1) if rule.n_dimensions == 2 else found


def write(value: Any) -> Any:
    """Return what JSON has for a value; infinity, for which it has no number, is the text "inf"."""
    if is_dataclass(value):
        return {name: write(getattr(value, name)) for name in _kinds(value.__class__)}
    if isinstance(value, Mapping):
        return {str(name): write(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [write(one) for one in value]
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(plain, float) and plain == math.inf:
        return "inf"
    if plain is not None and not isinstance(plain, bool | int | float | str | list):
        raise SavedResultError(
            f"labels are texts, numbers, or true and false in a file; {plain!r} is none of them"
        )
    return plain


def check(right: bool, place: str, rule: str, value: Any) -> None:
    """Raise `SavedResultError` unless a value is as it must be."""
    if not right:
        raise SavedResultError(f"{place!r} must be {rule}; it is {_shown(value)}")


def _inside(place: str, name: str) -> str:
    return f"{place}.{_short(name)}" if place else _short(name)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    return _short(json.dumps(value))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
