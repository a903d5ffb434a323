"""Arrays of a wrong shape do not reach the solver, which reads them without a look at their sizes."""

import numpy as np
import pytest

from cudbound import _solvers

N, P, DRAWS = 4, 2, 3
RAW = {
    "design": np.ones((N, P)),
    "anchor": np.ones(P),
    "penalty": np.ones(P),
    "map": np.eye(P),
    "exact": np.ones((N, P)),
}
PROBLEM = {
    "design": np.ones((N, P)),
    "labels": np.ones(N),
    "anchor": np.ones(P),
    "counts": np.ones((DRAWS, N), dtype=np.int32),
    "weights": np.ones((DRAWS, N)),
    "sample_weight": np.ones(N),
    "draw_scale": np.ones(DRAWS),
    "offset": np.ones(N),
    "penalty": np.eye(P),
    "l1": np.ones(P),
}
FITS = {
    "rows": np.ones((N, P)),
    "labels": np.ones(N),
    "weights": np.ones((DRAWS, N)),
    "penalty": np.ones((DRAWS, P + 1)),
    "shift": np.ones((DRAWS, P)),
    "scale": np.ones((DRAWS, P)),
}


def problem(**changed):
    raw = _solvers.Raw(**RAW, error=0.0)
    return _solvers.Problem(**(PROBLEM | changed), anchor_penalty=0.0, loss="squared", alpha=1.0, raw=raw)


CALLS = [
    (lambda **changed: _solvers.Raw(**(RAW | changed), error=0.0), RAW, ["design", "map"]),
    (problem, PROBLEM, ["design", "counts"]),
    (
        lambda **changed: _solvers.fit_all(**(FITS | changed), loss="logistic", intercept=True, threads=1),
        FITS,
        ["rows", "labels", "weights"],
    ),
]


@pytest.mark.parametrize(("call", "arrays", "sizes"), CALLS)
def test_the_array_of_a_wrong_shape_is_named(call, arrays, sizes):
    call()
    for name, array in arrays.items():
        for axis in range(array.ndim):
            longer = np.ascontiguousarray(np.concatenate([array, array.take([0], axis)], axis))
            # arrays that say how many rows, columns or draws there are disagree with the others
            with pytest.raises(
                ValueError, match="has a wrong shape" if name in sizes else f"^{name} has a wrong shape"
            ):
                call(**{name: longer})
