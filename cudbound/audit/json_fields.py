"""How the fields of a frozen dataclass stand in JSON, declared once: written, and read back after strict checks.

A dataclass annotates its fields by the kinds below. What is read may come from anybody: nothing of it is used before it
has the kind, the range and the size that the field says, and what is wrong is said in one line that names the field.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import partial
from typing import Annotated, Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from cudbound.exceptions import SavedResultError

#: Letters of a text, and entries of a list that is no array.
MAX_TEXT, MAX_ENTRIES = 1_000, 10_000
#: Lists and objects of a file: two for each draw, and few others. Empty ones take twenty times their place in memory.
MAX_CONTAINERS = 1_000_000
#: Counts are stored as numbers of four bytes.
MAX_COUNT = 2**31 - 1
#: A seed is as long as a person may want it.
MAX_SEED = 2**256
#: Digits of a SHA-256.
DIGITS = 64

Read = TypeVar("Read")


@dataclass(frozen=True)
class Kind:
    """How a field stands in JSON.

    Attributes
    ----------
    read : callable
        ``read(place, value)`` returns the value of the field; raises `SavedResultError`, which names the place.
    write : callable
        ``write(value)`` returns what JSON has for it.
    """

    read: Callable[[str, Any], Any]
    write: Callable[[Any], Any] = lambda value: value


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


def read_object(kind: type[Read], place: str, value: Any) -> Read:
    """Return the dataclass whose fields an object of JSON has: all of them, and no other.

    Raises
    ------
    SavedResultError
        If one is missing, unknown or wrong.
    """
    check(isinstance(value, dict), place, "an object", value)
    kinds = _kinds(kind)
    for name in value:
        check(name in kinds, _inside(place, name), "left out: no such field is known", value[name])
    for name in kinds:
        if name not in value:
            raise SavedResultError(f"{_inside(place, name)!r} is missing")
    return kind(**{name: one.read(_inside(place, name), value[name]) for name, one in kinds.items()})


def write_object(value: Any) -> dict[str, Any]:
    """Return what JSON has for a dataclass whose fields are annotated by kinds."""
    return {name: kind.write(getattr(value, name)) for name, kind in _kinds(type(value)).items()}


#: Of the classes that have been used, since reading annotations takes longer than most checks.
_KINDS: dict[type, dict[str, Kind]] = {}


def _kinds(kind: type) -> dict[str, Kind]:
    if kind not in _KINDS:
        hints = get_type_hints(kind, include_extras=True)
        _KINDS[kind] = {entry.name: hints[entry.name].__metadata__[0] for entry in fields(kind)}
    return _KINDS[kind]


def _inside(place: str, name: str) -> str:
    return f"{place}.{_short(name)}" if place else _short(name)


def check(right: bool, place: str, rule: str, value: Any) -> None:
    """Raise `SavedResultError` unless a value is as it must be."""
    if not right:
        raise SavedResultError(f"{place!r} must be {rule}; it is {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    return _short(json.dumps(value))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _text(place: str, value: Any, most: int) -> str:
    check(isinstance(value, str) and len(value) <= most, place, f"a text of at most {most:,} letters", value)
    return str(value)


def _digest(place: str, value: Any) -> str:
    right = isinstance(value, str) and len(value) == DIGITS and set(value) <= set("0123456789abcdef")
    check(right, place, f"{DIGITS} hexadecimal digits", value)
    return str(value)


def _flag(place: str, value: Any) -> bool:
    check(isinstance(value, bool), place, "true or false", value)
    return bool(value)


def _integer(place: str, value: Any, low: int, high: int) -> int:
    # not True, which is an integer for Python
    check(
        type(value) is int and low <= value <= high, place, f"a whole number from {low} to {high:.6g}", value
    )
    return int(value)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= 1e300  # an int may have no double


def _number(place: str, value: Any, low: float, high: float, endless: bool = False) -> float:
    """Return a number; with `endless` the text "inf" stands for what JSON has no number for."""
    if endless and value == "inf":
        return math.inf
    rule = f"a number from {low:g} to {high:g}" + (' or "inf"' if endless else "")
    check(_is_number(value) and low <= value <= high, place, rule, value)
    return float(value)


def _write_number(value: float) -> float | str:
    return "inf" if value == math.inf else float(value)


def _choice(place: str, value: Any, known: Collection[str]) -> str:
    check(isinstance(value, str) and value in known, place, f"one of {', '.join(known)}", value)
    return str(value)


def _label(place: str, value: Any) -> Any:
    right = (
        isinstance(value, bool) or _is_number(value) or (isinstance(value, str) and len(value) <= MAX_TEXT)
    )
    check(right, place, "a text, a number, true or false", value)
    return value


def _write_label(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, bool | int | float | str):
        raise SavedResultError(
            f"labels are texts, numbers, or true and false in a file; {plain!r} is none of them"
        )
    return plain


def _numbers(place: str, value: Any, n_dimensions: int) -> NDArray[np.float64]:
    flat = _flat(place, value, n_dimensions)
    check(set(map(type, flat)) <= {int, float}, place, "a list of numbers", value)
    check(all(map(_is_number, flat)), place, "a list of numbers that are not larger than 1e300", value)
    return (
        np.array(value, dtype=np.float64).reshape(len(value), -1)
        if n_dimensions == 2
        else np.array(flat, float)
    )


def _counts(place: str, value: Any) -> NDArray[np.int32]:
    flat = _flat(place, value, 2)
    right = set(map(type, flat)) <= {int} and (not flat or (min(flat) >= 0 and max(flat) <= MAX_COUNT))
    check(right, place, f"a list of lists of whole numbers from 0 to {MAX_COUNT}", value)
    return np.array(value, dtype=np.int32).reshape(len(value), -1)


def _flat(place: str, value: Any, n_dimensions: int) -> list[Any]:
    """Return the entries of a list, or of a list of lists of one length."""
    check(isinstance(value, list), place, "a list", value)
    if n_dimensions == 1:
        return list(value)
    lengths = {len(one) if isinstance(one, list) else -1 for one in value}
    check(len(lengths) <= 1 and -1 not in lengths, place, "a list of lists of one length", value)
    return [entry for one in value for entry in one]


def _list_of(place: str, value: Any, kind: Kind, least: int, most: int) -> tuple[Any, ...]:
    right = isinstance(value, list) and least <= len(value) <= most
    check(right, place, f"a list of {least:,} to {most:,}", value)
    return tuple(kind.read(f"{place}[{number}]", one) for number, one in enumerate(value))


def _mapping_to(place: str, value: Any, kind: Kind) -> dict[str, Any]:
    right = (
        isinstance(value, dict) and len(value) <= MAX_ENTRIES and all(len(name) <= MAX_TEXT for name in value)
    )
    check(right, place, f"an object of at most {MAX_ENTRIES:,} fields with short names", value)
    return {name: kind.read(_inside(place, name), one) for name, one in value.items()}


def optional(kind: Kind) -> Kind:
    """Return the kind of what may be null."""
    return Kind(
        lambda place, value: None if value is None else kind.read(place, value),
        lambda value: None if value is None else kind.write(value),
    )


def list_of(kind: Kind, least: int = 0, most: int = MAX_ENTRIES) -> Kind:
    """Return the kind of a list, which is a tuple in Python."""
    read = partial(_list_of, kind=kind, least=least, most=most)
    return Kind(read, lambda values: [kind.write(one) for one in values])


def mapping_to(kind: Kind) -> Kind:
    """Return the kind of an object with names of its own."""
    return Kind(
        partial(_mapping_to, kind=kind),
        lambda values: {str(name): kind.write(one) for name, one in values.items()},
    )


def either(first: Kind, second: Kind, is_first: Callable[[Any], bool]) -> Kind:
    """Return the kind of what is of one of two kinds, in JSON and in Python told apart by `is_first`."""
    return Kind(
        lambda place, value: (first if is_first(value) else second).read(place, value),
        lambda value: (first if is_first(value) else second).write(value),
    )


def object_of(kind: type) -> Kind:
    """Return the kind of a dataclass whose fields are annotated by kinds."""
    return Kind(partial(read_object, kind), write_object)


def number(low: float, high: float) -> Kind:
    """Return the kind of a number within limits."""
    return Kind(partial(_number, low=low, high=high), float)


def integer(low: int, high: int) -> Kind:
    """Return the kind of a whole number within limits."""
    return Kind(partial(_integer, low=low, high=high), int)


def choice(known: Collection[str]) -> Kind:
    """Return the kind of one of a few words."""
    return Kind(partial(_choice, known=known), str)


def _scalar(place: str, value: Any) -> Any:
    return math.inf if value == "inf" else _label(place, value)


def _write_scalar(value: Any) -> Any:
    return "inf" if isinstance(value, float) and value == math.inf else _write_label(value)


def is_text(value: Any) -> bool:
    """Whether a value is a text."""
    return isinstance(value, str)


TEXT = Kind(partial(_text, most=MAX_TEXT))
LABEL = Kind(_label, _write_label)
#: Of an option that may be infinite.
SCALAR = Kind(_scalar, _write_scalar)
FLAG = Kind(_flag, bool)
PROPORTION = number(0.0, 1.0)
NUMBER = number(-1e300, 1e300)
RATE = Kind(partial(_number, low=0.0, high=1e300, endless=True), _write_number)
VECTOR = Kind(partial(_numbers, n_dimensions=1), lambda values: [float(one) for one in values])

Text = Annotated[str, TEXT]
Digest = Annotated[str, Kind(_digest)]
Flag = Annotated[bool, FLAG]
Label = Annotated[Any, LABEL]
Number = Annotated[float, NUMBER]
Rate = Annotated[float, RATE]
Vector = Annotated[NDArray[np.float64], VECTOR]
VectorOrNone = Annotated[NDArray[np.float64] | None, optional(VECTOR)]
Matrix = Annotated[
    NDArray[np.float64], Kind(partial(_numbers, n_dimensions=2), lambda values: np.asarray(values).tolist())
]
CountMatrix = Annotated[NDArray[np.int32], Kind(_counts, lambda values: np.asarray(values).tolist())]
Seed = Annotated[int | None, optional(integer(0, MAX_SEED))]
