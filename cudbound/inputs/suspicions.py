"""Possible mistakes in a file: copied rows, patients with several rows, isolated values."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.equal_rows import count_improbable_copies
from cudbound.basis.separation import Codes, relabelings, separation
from cudbound.inputs.column_kinds import FREE_TEXT, IDS, is_id_name, kind_of, numbers_the_rows, one_spelling
from cudbound.inputs.column_roles import Roles
from cudbound.inputs.data_file import count_rows, first_few, quoted
from cudbound.inputs.number_texts import key_of, to_numbers

if TYPE_CHECKING:
    import pandas as pd

#: A value is far from the others if the gap is larger than this many times their range; one that is often a code for
#: a missing value, if it is larger than this share of the range of the nine tenths that are nearest to the others.
FAR, FAR_CODE, NEARER = 2.0, 0.25, 0.9
#: In more cells than this, agreements of columns are not looked for.
MOST_CELLS = 1_000_000
#: Levels that may say "no value": words, signs without letters, and the errors of spreadsheets, such as #DIV/0!.
_UNKNOWN = re.compile(
    r"-+|\*+|#[\w/]+[!?]?|unk(nown)?|missing|n[./][akd]\.?|not (known|recorded|done|available)|pending|unbekannt|"
    r"k\.? ?a\.?|keine angabe|inconnu|desconocido",
    re.IGNORECASE,
)
#: Codes of missing values, and the numbers that stand beside them in some files, for other reasons of missing.
_CODE, _BESIDE = re.compile(r"-?9+|-1"), re.compile(r"-?(7+|8+|9*[6-9])")


def suspicions(cells: pd.DataFrame, roles: Roles, numbers: pd.DataFrame) -> Iterator[str]:
    """Return one sentence per possible mistake in a file.

    Parameters
    ----------
    cells : DataFrame of str, shape (n_records, n_columns)
        The whole file, nan where a cell is missing; its index has the lines.
    roles : Roles
    numbers : DataFrame of float
        The numeric features.
    """
    n_copies = count_improbable_copies(cells)
    if n_copies:
        words = "is an exact copy" if n_copies == 1 else "are exact copies"
        way = "" if roles.group is not None else ", or use --group COL if they belong to one patient"
        yield (
            f"{n_copies} of {len(cells)} rows {words} of an earlier row, the first on line "
            f"{cells.duplicated().idxmax()}, which chance does not explain; delete what was pasted twice{way}"
        )
    for name in cells.columns:
        if name not in (roles.target, roles.group, roles.weight, *roles.categorical):
            yield from _of_ids(name, cells[name].dropna(), name in roles.features, roles.group is not None)
    for name in roles.features:
        if name not in numbers.columns:
            yield from _of_levels(name, cells[name].dropna())
            yield from _of_texts(name, cells[name].dropna())
    for name in numbers.columns:
        if not is_id_name(name) and numbers_the_rows(cells[name].dropna()):
            yield f"column {quoted(name)} is a feature and numbers the rows; leave it out with --exclude {quoted(name)}"
        for text, at, others, _ in far_values(numbers[name].dropna()):
            sharing = [
                other for other in numbers.columns if other != name and (numbers[other] == float(text)).any()
            ]
            yield far_in_words(name, text, at, others, sharing)
    if roles.target:
        for text, at, others, _ in far_values(to_numbers(cells[roles.target].dropna()), least=1):
            sharing = [name for name in numbers.columns if (numbers[name] == float(text)).any()]
            yield far_in_words(roles.target, text, at, others, sharing)
        yield from _of_agreements(cells, roles) if cells.size <= MOST_CELLS else ()


def _of_agreements(cells: pd.DataFrame, roles: Roles) -> Iterator[str]:
    """Yield features that alone separate the classes, and those that relabel another one."""
    rows = cells[cells[roles.target].notna() & ~cells.duplicated()]
    y = codes_of(rows[roles.target])
    groups = None if roles.group is None else codes_of(rows[roles.group])
    codes = {name: codes_of(rows[name]) for name in roles.features}
    for name, how in separating(rows, codes, y, groups).items():
        column, target = quoted(name), quoted(roles.target)
        yield (
            f"column {column} alone separates the classes of {target}, {how}; if it records the outcome, or was known "
            f"only after it, drop it with --exclude {column}"
        )
    counters = [name for name in codes if is_id_name(name) or numbers_the_rows(cells[name].dropna())]
    for name, other in relabelings(
        {name: codes[name] for name in codes if name not in counters}, groups
    ).items():
        yield (
            f"column {quoted(name)} relabels column {quoted(other)}: each value of one belongs to one value of the "
            f"other; drop one of them with --exclude {quoted(name)}"
        )


def codes_of(cells: pd.Series[str]) -> Codes:
    """Return the numbers of the values of a column in their order, and -1 where one is missing."""
    known = cells.notna().to_numpy()
    values: pd.Series[Any] = to_numbers(cells[known])
    if values.isna().any():
        values = one_spelling(cells[known].map(key_of))[0]
    codes = np.full(len(cells), -1)
    codes[known] = np.unique(values.to_numpy(), return_inverse=True)[1]
    return codes


def separating(
    cells: pd.DataFrame, codes: Mapping[str, Codes], y: Codes, groups: Codes | None
) -> dict[str, str]:
    """Return the columns that alone separate the classes, and how."""
    found = {}
    for name, levels in codes.items():
        how = separation(np.where(levels < 0, np.nan, levels), y, groups, len(codes))
        is_text = to_numbers(cells[name].dropna()).isna().any()
        if how:
            found[name] = "at a threshold" if how == "threshold" and not is_text else "level by level"
        elif separation((levels < 0).astype(float), y, groups, len(codes)):
            found[name] = "by being missing"
    return found


def _of_ids(name: str, values: pd.Series[str], is_feature: bool, grouped: bool) -> Iterator[str]:
    named, n_different = is_id_name(name), values.nunique()
    found = named or (not is_feature and 2 * n_different > len(values) and kind_of(name, values) == IDS)
    column, repeated = quoted(name), n_different < len(values) and not grouped
    if found and repeated:
        yield (
            f"column {column} repeats: {n_different} different values on {len(values)} rows; use --group {column} if "
            "it identifies patients, because rows of one patient are not independent"
        )
    elif named and is_feature:
        yield f"column {column} is a feature named like an ID; if it is one, drop it with --exclude {column}"


def _of_levels(name: str, values: pd.Series[str]) -> Iterator[str]:
    codes = to_numbers(values).notna() & values.map(_CODE.fullmatch).notna()
    unknown = values[
        values.map(says_unknown) | (codes if codes.sum() == to_numbers(values).count() else False)
    ]
    if 0 < len(unknown) < len(values):
        words = sorted(unknown.unique())
        yield (
            f"column {quoted(name)}: {', '.join(map(quoted, words))} on {count_rows(len(unknown))} is a level; add "
            f"{missing_option(words)} if it means a missing value"
        )


def missing_option(words: Sequence[str]) -> str:
    """Return the option for texts that mean a missing value, ready to paste."""
    return f"--missing-values={shlex.quote(','.join(words))}"


def says_unknown(text: str) -> bool:
    """Whether a text may say that a value is not known."""
    return _UNKNOWN.fullmatch(text) is not None


def _of_texts(name: str, values: pd.Series[str]) -> Iterator[str]:
    kind = kind_of(name, values)
    if kind in (IDS, FREE_TEXT) and not is_id_name(name):
        what = "free text" if kind == FREE_TEXT else "an ID or free text"
        yield (
            f"column {quoted(name)} is a category of {values.nunique()} levels on {len(values)} rows; if it is {what}, "
            f"drop it with --exclude {quoted(name)}"
        )


def far_values(values: pd.Series[float], least: int = 2) -> Iterator[tuple[str, pd.Index[int], str, bool]]:
    """Return each isolated number, its lines, the range of the others, and whether it is a common code.

    Common codes, such as 9, or 8 and 9, are looked for beside `least` different values, other numbers beside five.
    """
    levels, codes = np.unique(values), set[float]()
    for ends in (levels[::-1], levels) if levels.size else ():
        beside = [*takewhile(lambda level: _BESIDE.fullmatch(_in_short(level)), ends)]
        for n in range(max(len(beside), 1), 0, -1):
            far, others = ends[:n], np.setdiff1d(levels, [*codes, *ends[:n]])
            if (
                _CODE.fullmatch(_in_short(far[0]))
                and others.size >= least
                and _are_lone_codes(values, far, others)
            ):
                codes.update(far)
                break
    levels = np.setdiff1d(levels, [*codes])
    pairs = [(levels[0], levels[1:]), (levels[-1], levels[:-1])] if len(levels) > 5 else []
    far_ones = [far for far, others in pairs if _is_far(values, far, others)]
    others = np.setdiff1d(levels, far_ones)
    for far in (*sorted(codes), *far_ones):
        yield _in_short(far), values.index[values == far], f"{others[0]:g} to {others[-1]:g}", far in codes


def _is_far(values: pd.Series[float], far: float, others: NDArray[np.float64]) -> bool:
    """Whether a number is far from the others; a single one without negative numbers, also on a logarithmic scale."""
    if not _gap(far, others) > FAR * np.ptp(others):
        return False
    if min(far, others[0]) < 0.0 or (values == far).sum() > 1:
        return True
    return _gap(np.log1p(far), np.log1p(others)) > float(np.ptp(np.log1p(others)))


def _in_short(number: float) -> str:
    return repr(float(number)).removesuffix(".0")


def missing_codes(counts: Counter[str]) -> list[str]:
    """Return the values of a target that may code a missing value: words such as unknown, and numbers such as 9."""
    import pandas as pd

    numbers = to_numbers(pd.Series([*counts.elements()], dtype=object)).dropna()
    codes = {text for text, _, _, is_code in far_values(numbers, least=1) if is_code}
    return [key for key in counts if key in codes or key == "-1" or says_unknown(key)]


def _gap(far: float, others: NDArray[np.float64]) -> float:
    return float(np.abs(far - others).min())


def _are_lone_codes(values: pd.Series[float], far: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Whether numbers that are often codes, the smallest or the largest in a column, are far from the others.

    So are negative codes beside no other negative number, and those that are more than twice as frequent as the number
    next to them. A 9, itself a number of few digits, must be above other whole numbers by their range, and other codes
    farther than a share of it; the range of a skewed column is that of its nearer nine tenths.
    """
    gap = min(_gap(code, others) for code in far)
    nearest = others[np.abs(far[-1] - others).argmin()]
    if gap <= 1.0 or (far[0] == -1.0 and others.size < 3) or (far[0] == 9.0 and (others % 1.0).any()):
        return False
    fewest = min((values == code).sum() for code in far)
    if far[0] < 0.0 <= others[0] or fewest > 2 * (values == nearest).sum():
        return True
    if far[0] == 9.0:
        return nearest < 9.0 and gap >= float(np.ptp(others))
    rest = values[~values.isin(far)]
    nearer = (
        rest.quantile(NEARER) - rest.min() if far[0] > nearest else rest.max() - rest.quantile(1 - NEARER)
    )
    return gap > FAR_CODE * float(nearer)


def far_in_words(name: str, text: str, at: pd.Index[int], others: str, sharing: Sequence[str] = ()) -> str:
    """Return the sentence on an isolated number, which may be a value of the columns in `sharing`."""
    rows = f"on line {at[0]}" if len(at) == 1 else f"on {len(at)} rows, the first on line {at[0]}"
    way = f"add --missing-values={text}"
    if sharing:
        columns = first_few([*map(quoted, sharing)])
        way = f"leave it empty in the file, because {text} is also a value of column {columns},"
    return (
        f"column {quoted(name)}: {text} {rows} is far from the others, {others}; {way} if it codes a missing value, or "
        "correct it if it is an error"
    )
