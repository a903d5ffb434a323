"""Load a fitted model from a file of the package skops, and refuse any file whose loading could run code.

A pickle is a program, and so is what joblib writes. A skops file names the types it is made of before any
object is made; it is loaded only if all of them are known: to skops, to `cudbound.cli.inputs.harmless_types`, or to the
user, who names them.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cudbound.cli.inputs.harmless_types import HARMLESS, made_harmless, parts_of
from cudbound.cli.inputs.model_schema import SchemaError, check_array_file, checked_schema
from cudbound.hints import install_command
from cudbound.inputs.csv_file import first_few, quoted

#: Bytes that a file may take, packed and unpacked; a linear model on 10,000 features takes less than one.
LARGEST = 64 * 2**20

_PICKLE_SUFFIXES = frozenset({".pkl", ".pickle", ".joblib", ".dill", ".cloudpickle", ".sav", ".p", ".pk"})
#: First bytes of pickles since protocol 2, and of the compressions that joblib lays around them.
_PICKLE_STARTS = (
    *(b"\x80" + bytes([protocol]) for protocol in range(2, 6)),
    *(b"\x78" + level for level in (b"\x01", b"\x5e", b"\x9c", b"\xda")),  # zlib
    b"\x1f\x8b",  # gzip
    b"BZh",
    b"\xfd7zXZ",
    b"\x5d\x00\x00",  # lzma
    b"\x04\x22\x4d\x18",  # lz4
)
_ZIP_START = b"PK\x03\x04"

#: Kinds of node that a fitted classifier on numbers is made of. The others can call a method by its name, build an
#: object from arguments of the file, or unpack an archive in the archive, whose size nobody has looked at.
_KNOWN_NODES = frozenset(
    {
        "CachedNode",
        "DTypeNode",
        "DictNode",
        "FunctionNode",
        "JsonNode",
        "ListNode",
        "LossNode",
        "MaskedArrayNode",
        "NdArrayNode",
        "ObjectNode",
        "RandomStateNode",
        "SetNode",
        "SliceNode",
        "TreeNode",
        "TupleNode",
        "TypeNode",
    }
)
_WAY_ON = "save the model with skops.io.dump, or let the command fit one with --classifier"


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted estimator from a file.

    Attributes
    ----------
    estimator : object
        As it was saved.
    file_name : str
        Without its folder.
    description : str
        The model in words, for the notes under the table.
    warnings : tuple of str
        What was remarkable about the file.
    """

    estimator: Any
    file_name: str
    description: str
    warnings: tuple[str, ...] = ()


def load_model(path: Path, trust: Sequence[str] = ()) -> SavedModel:
    """Load a fitted estimator that `skops.io.dump` has written.

    Parameters
    ----------
    path : Path
    trust : sequence of str, default ()
        Types, by their full names, that the user knows to be harmless.

    Raises
    ------
    ValueError
        If there is no such file, it is a pickle or no skops file at all, it is larger than `LARGEST`, it is damaged,
        it holds types that are neither known as harmless nor in `trust`, objects nested too deep, random states, or
        arrays that are not what their estimator relies on, or skops is not installed. Nothing of the file has been
        run then.
    """
    # loads scikit-learn, which the command does without until there is a model
    from cudbound.cli.inputs.model_arrays import check_model
    from cudbound.cli.inputs.model_parameters import ModelError

    name = quoted(path.name)
    content = _read(path, name)
    try:
        import skops.io
    except ImportError as error:
        raise ValueError(
            f"--model needs the package skops, which is not installed ({error}); "
            f"get it with: {install_command('models')}"
        ) from error
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            packed = _unpacked(content, name)
            trusted = [*_own_types(), *HARMLESS, *trust]
            unknown = _unknown_types(packed, trusted)
            if unknown:
                raise _RefusedError(
                    f"--model: {name} holds types that are not known to be harmless: {listed(unknown)}. It was not "
                    "loaded, since loading could run code. Save the model without them, let the command fit one with "
                    "--classifier, or, if you know where the file comes from, look through the types and name each "
                    "with --trust TYPE"
                )
            loaded = skops.io.loads(packed, trusted=trusted)
            check_model(parts_of(loaded), trust)
            estimator = made_harmless(loaded)
            description = f"{_in_words(estimator)} from the file {path.name}, as it was saved"
        except _RefusedError:
            raise
        except (ModelError, SchemaError) as error:
            raise ValueError(f"--model: {name} is refused, since it {error}; {_WAY_ON}") from error
        except Exception as error:  # a damaged or crafted file can make skops raise anything
            raise ValueError(
                f"--model: {name} cannot be loaded, {type(error).__name__}: {quoted(str(error), 200)}; it is "
                f"damaged, or was written with other versions of scikit-learn and skops: {_WAY_ON}"
            ) from error
    return SavedModel(estimator, path.name, description, _versions(caught, name))


def listed(names: Sequence[str]) -> str:
    """Quote foreign names for a message, the first few of them if they are many."""
    return first_few([quoted(name, 100) for name in names])


class _RefusedError(ValueError):
    """The file is refused for a reason that is already in words."""


def _read(path: Path, name: str) -> bytes:
    """Return the content of a file that looks like one of skops."""
    if path.suffix.lower() in _PICKLE_SUFFIXES:
        raise _pickle(name)
    if path.is_dir():
        raise ValueError(f"--model: {name} is a folder; name a file in it")
    if not path.is_file():
        raise ValueError(f"--model: no such file: {quoted(str(path))}")
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise _too_large(name)
    if content.startswith(_PICKLE_STARTS):
        raise _pickle(name)
    if not content.startswith(_ZIP_START):
        raise ValueError(f"--model: {name} is not a skops file; {_WAY_ON}")
    return content


def _pickle(name: str) -> ValueError:
    return ValueError(
        f"--model: {name} looks like a pickle (as joblib writes, too), and loading a pickle runs whatever code is in "
        f"it, so it was not opened; {_WAY_ON}"
    )


def _too_large(name: str) -> _RefusedError:
    return _RefusedError(
        f"--model: {name} is larger than {LARGEST // 2**20} MB, packed or unpacked, which no model that this command "
        "can use is; save the model alone, without data"
    )


def _unpacked(content: bytes, name: str) -> bytes:
    """Return the archive with its members unpacked, having counted every byte of them.

    What is looked at and what is loaded are then the same bytes, whatever the headers of the file say.
    """
    plain = io.BytesIO()
    left = LARGEST
    with zipfile.ZipFile(io.BytesIO(content)) as packed, zipfile.ZipFile(plain, "w") as archive:
        if "schema.json" not in packed.namelist():
            raise _RefusedError(f"--model: {name} is an archive, but not one of skops; {_WAY_ON}")
        for member in packed.infolist():
            with packed.open(member) as stream:
                part = stream.read(left + 1)  # a file may unpack to more than it says
            left -= len(part)
            if left < 0:
                raise _too_large(name)
            if member.filename == "schema.json":
                part = checked_schema(part)
            elif member.filename.endswith(".npy"):
                check_array_file(part)
            archive.writestr(member.filename, part)
    return plain.getvalue()


def _unknown_types(archive: bytes, trusted: Sequence[str]) -> list[str]:
    """Return what is made by a kind of node that is not known; if nothing is, the types that are not trusted."""
    import skops.io

    odd = set()

    def look(value: dict[str, Any]) -> dict[str, Any]:
        """Note an object of the schema that skops would make by a kind of node that is not known."""
        if "__loader__" in value and value["__loader__"] not in _KNOWN_NODES:
            odd.add(f"{value.get('__module__')}.{value.get('__class__')} ({value['__loader__']})")
        return value

    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        json.loads(file.read("schema.json"), object_hook=look)
    return sorted(odd or set(skops.io.get_untrusted_types(data=archive)) - set(trusted))


def _own_types() -> list[str]:
    from cudbound.estimators.convex_loss import ConvexLossClassifier
    from cudbound.estimators.least_squares import LeastSquaresClassifier

    return [f"{one.__module__}.{one.__qualname__}" for one in (ConvexLossClassifier, LeastSquaresClassifier)]


def _versions(caught: list[warnings.WarningMessage], name: str) -> tuple[str, ...]:
    """Say once that another version of scikit-learn wrote the file, and pass other warnings on as they are."""
    from sklearn.exceptions import InconsistentVersionWarning

    messages = []
    for event in caught:
        message = event.message
        if isinstance(message, InconsistentVersionWarning):
            messages.append(
                f"{name} was saved with scikit-learn {message.original_sklearn_version} and is used with "
                f"{message.current_sklearn_version}; if the two differ in this model the numbers are wrong"
            )
        else:
            messages.append(f"{name}: {message}")
    return tuple(dict.fromkeys(messages))


def _in_words(estimator: Any) -> str:
    """Name the class, and the classes of the steps or of the estimator that it is made of."""
    if isinstance(estimator, str):  # a step that is left out
        return "passthrough"
    parts = [step for _, step in getattr(estimator, "steps", [])]
    inner = getattr(estimator, "estimator", None)
    names = ", ".join(map(_in_words, [*parts, *([] if inner is None else [inner])]))
    return f"{type(estimator).__name__}({names})" if names else type(estimator).__name__
