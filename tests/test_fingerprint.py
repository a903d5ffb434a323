"""The fingerprint of a training set: one for all ways to hold the same values, another after any change."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from cudbound.basis.groups import Groups
from cudbound.basis.sample import fingerprint

X = np.array([[1.0, 2.0], [0.0, 4.0], [5.0, 6.5]])
EVENT = np.array([True, False, True])


def test_it_is_the_hash_that_the_layout_says():
    """Written out by hand: the shape and little-endian doubles of each part; an absent one is a single nan."""
    content = b"cudbound training set 1"
    content += b"(3, 2)" + struct.pack("<6d", 1.0, 2.0, 0.0, 4.0, 5.0, 6.5)
    content += b"(3,)" + struct.pack("<3d", 1.0, 0.0, 1.0)
    content += 2 * (b"()" + struct.pack("<d", np.nan))
    assert fingerprint(X, EVENT) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    "same",
    [
        X.tolist(),
        np.asfortranarray(X),
        X.astype(np.float32),
        X.astype(">f8"),
        X.astype(object),
        pd.DataFrame(X, columns=["age", "size"]),
        sparse.csr_array(X),
        np.where(X == 0.0, -0.0, X),
    ],
    ids=["list", "order", "single", "big-endian", "objects", "frame", "sparse", "negative zero"],
)
def test_the_same_values_have_the_same(same):
    assert fingerprint(same, EVENT) == fingerprint(X, EVENT)


def test_any_change_is_seen():
    moved = X.copy()
    moved[1, 1] = np.nextafter(4.0, 5.0)
    groups = Groups.of(["a", "a", "b"])
    weights = np.array([1.0, 2.0, 3.0])
    found = [
        fingerprint(X, EVENT),
        fingerprint(moved, EVENT),
        fingerprint(X[[1, 0, 2]], EVENT),
        fingerprint(X.T.reshape(3, 2), EVENT),
        fingerprint(X[:, ::-1], EVENT),
        fingerprint(X.ravel(), EVENT),
        fingerprint(np.where(X == 2.0, np.nan, X), EVENT),
        fingerprint(X, ~EVENT),
        fingerprint(X, EVENT, groups),
        fingerprint(X, EVENT, Groups.of(["a", "b", "b"])),
        fingerprint(X, EVENT, None, weights),
        fingerprint(X, EVENT, None, weights[::-1]),
    ]
    assert len(set(found)) == len(found)


def test_texts_are_told_from_numbers_and_from_each_other():
    rows = [[1, "m"], ["1", "m"], [1, "mm"], [None, "m"], [np.nan, "m"], [1, ""]]
    found = {fingerprint(np.array([row, [2, "f"]], dtype=object), EVENT[:2]) for row in rows}
    assert len(found) == len(rows)
    assert fingerprint(["ab", "c"], EVENT[:2]) != fingerprint(["a", "bc"], EVENT[:2])
