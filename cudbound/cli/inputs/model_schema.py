"""What a saved model says of itself, looked through before any object is made: its size, and what it must not hold."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import numpy as np

#: Objects within objects, and objects in all, copies included; a search over hundreds of configurations takes a tenth.
MAX_DEPTH = 100
MAX_OBJECTS = 1_000_000
#: The attribute in which `IterativeImputer` keeps the random numbers of its fit, which it does not read again.
_UNREAD = "random_state_"
_NOTHING = {
    "__class__": "str",
    "__module__": "builtins",
    "__loader__": "JsonNode",
    "content": "null",
    "is_json": True,
}


class SchemaError(ValueError):
    """A schema is refused; the message says why, after "the file"."""


def checked_schema(text: bytes) -> bytes:
    """Return the schema of a saved model, without random numbers that nobody reads.

    Parameters
    ----------
    text : bytes
        JSON, as in ``schema.json`` of a file of skops.

    Raises
    ------
    SchemaError
        If objects are nested deeper than `MAX_DEPTH` or there are more than `MAX_OBJECTS`, where an object that is
        there again counts again, or if there is the state of a random number generator, which compiled code trusts.
    """
    schema = json.loads(text)
    _count(schema, {}, 0)
    return json.dumps(_without_random_states(schema)).encode()


def check_array_file(content: bytes) -> None:
    """Raise SchemaError unless the header of an array tells the bytes behind it.

    What reads it would otherwise make room for as many values as the header says.
    """
    stream = io.BytesIO(content)
    major, _ = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(stream)
    if dtype.hasobject:
        return  # NumPy reads none without pickles, and says so
    if dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise SchemaError(f"holds an array of shape {shape} and type {dtype} in {len(content):,} bytes")


def _count(value: Any, known: dict[Any, int], depth: int) -> int:
    """Return the number of objects that a part of the schema stands for; skops takes those of one id for the same."""
    if depth > 2 * MAX_DEPTH:  # each object is a dictionary with a dictionary or list of what it holds
        raise SchemaError(f"nests objects deeper than {MAX_DEPTH} levels")
    if isinstance(value, list):
        return _limited(sum(_count(one, known, depth + 1) for one in value))
    if not isinstance(value, dict):
        return 0
    name = value.get("__id__")
    if isinstance(name, int | str) and name in known:
        return known[name]
    found = _limited(1 + sum(_count(one, known, depth + 1) for one in value.values()))
    if isinstance(name, int | str):
        known[name] = found
    return found


def _limited(number: int) -> int:
    if number > MAX_OBJECTS:
        raise SchemaError(f"holds more than {MAX_OBJECTS:,} objects, copies included")
    return number


def _without_random_states(value: Any, key: str = "") -> Any:
    if isinstance(value, list):
        return [_without_random_states(one) for one in value]
    if not isinstance(value, dict):
        return value
    if str(value.get("__loader__", "")).startswith("Random"):
        if key != _UNREAD:
            raise SchemaError(
                "holds the state of a random number generator, which cannot be checked; fit the model with a whole "
                "number for random_state"
            )
        return dict(_NOTHING)
    return {name: _without_random_states(one, name) for name, one in value.items()}
