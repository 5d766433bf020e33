"""Ventilation in the unit of the file to 0..1: what counts as fully on, and how it is known.

The scale is part of the data a model was trained on: ``fit`` keeps it, and a later file is scaled by the
model's, not by its own largest value.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.column_names import fold, squeeze
from occupair.readings.number_cells import as_text, is_missing
from occupair.readings.source import Source
from occupair.readings.ventilation_scale import Scale, same_share
from occupair.wording import quoted

ON = (
    "on|true|yes|open|opened|running|run|active|ein|an|auf|offen|ja|til|aben|marche|ouvert|oui|abierto|"
    "encendido|si|aan"
)
OFF = (
    "off|false|no|closed|close|stopped|stop|inactive|aus|zu|geschlossen|nein|nej|fra|lukket|arret|ferme|"
    "non|cerrado|apagado|uit|dicht|nee"
)

_UNITS = {
    "%": r"%|\b(pct|percent|prozent|procent|pourcent)\b",
    "Hz": r"\bhz\b",
    "m3/h": r"m\^?3\s*/\s*h|\b(m3h|cmh|cbm/h)\b",
    "m3/s": r"m\^?3\s*/\s*s",
    "l/s": r"\bl\s*/\s*s\b|\b(lps|ls)\b",
    "cfm": r"\bcfm\b",
    "rpm": r"\brpm\b|u/min",
    "V": r"\bv(olts?)?\b",
    "0..1": r"\b0\s*(\.\.|-|to|bis)\s*1\b",
}
MOST_STEPS = 10
"""Whole numbers up to this are taken for the steps of a fan."""
_FLOW = "flow|strom|maengde|menge|debit|caudal|debiet"
_SPEED = "speed|frequen|drehzahl|hastighed|vitesse"


def words_to_numbers(
    cells: pd.Series, *, source: Source, row_numbers: NDArray[np.int64]
) -> tuple[pd.Series, bool]:
    """Write on and off, in any of the words for them, as 1 and 0, and tell whether there were any.

    Off may stand among other numbers, as 0; on may not, for it says too little there.

    Examples
    --------
    >>> where = {"source": Source("room.csv"), "row_numbers": np.arange(3)}
    >>> cells, words = words_to_numbers(pd.Series(["Ein", "aus", ""]), **where)
    >>> cells.tolist(), words
    (['1', '0', ''], True)
    """
    if pd.api.types.is_numeric_dtype(cells):
        plain = cells.to_numpy(dtype=np.float64, na_value=np.nan)
        return pd.Series(plain, index=cells.index, name=str(cells.name)), pd.api.types.is_bool_dtype(cells)
    codes, distinct = pd.factorize(as_text(cells))
    texts = pd.Series(distinct, dtype=str)
    folded = texts.map(lambda text: fold(text).strip())
    on, off = folded.str.fullmatch(ON), folded.str.fullmatch(OFF)
    others = texts[~on & ~off & ~is_missing(texts) & ~folded.isin(["0", "1", "0.0", "1.0"])]
    if on.any() and len(others) and not source.strict:
        on &= False  # left as words, which are no numbers
    elif on.any() and len(others):
        k = int(np.argmax(on.to_numpy()[codes]))
        rule = f"must be a number, as {quoted(others.iloc[0])} is, got {quoted(str(cells.iloc[k]))}"
        raise source.error(rule, row=int(row_numbers[k]), column=str(cells.name))
    written = texts.mask(on, "1").mask(off, "0").to_numpy()[codes]
    words = bool(on.any() or off.any()) and others.empty
    return pd.Series(written, index=cells.index, name=str(cells.name), dtype=str), words


def scale_of(values: NDArray[np.float64], *, name: str, unit: str, words: bool) -> Scale:
    """Find what means fully on.

    Parameters
    ----------
    values : 1-D array
        Ventilation in the unit of the file, NaN where it is missing.
    name, unit : str
        Name of the column, and its unit if that stands apart.
    words : bool
        Whether the file says on and off.

    Returns
    -------
    Scale
        A stated percentage is of 100, a voltage of 10, a frequency of 50 Hz, or of 60 if it goes
        higher; a stated flow and anything above 100 is of the largest value there. With no unit:
        up to 1 is 0..1 already; the speed of a fan of 45 to 61 is in Hz; whole numbers up to 10 are
        steps, of the largest; up to 100 is a percentage.

    Examples
    --------
    >>> scale_of(np.array([0.0, 850.0]), name="Zuluft [m³/h]", unit="", words=False)
    Scale(full=850.0, unit='m3/h')
    >>> scale_of(np.array([0.0, 49.9]), name="fcu_fan_speed", unit="", words=False)
    Scale(full=50.0, unit='Hz')
    """
    known = values[np.isfinite(values)]
    most = float(known.max(initial=0.0))
    if words:
        return Scale(1.0, "on/off")
    unit = stated_unit(name, unit) or _likely_unit(known, most, squeeze(name))
    fixed = {"0..1": 1.0, "%": 100.0, "V": 10.0, "Hz": _mains(most)}
    return Scale(fixed.get(unit, most) or 1.0, unit)


def stated_unit(name: str, unit: str = "") -> str | None:
    """Find the unit that a name or the line below it states.

    Examples
    --------
    >>> [stated_unit(name) for name in ("Damper (%)", "fan_hz", "Luftmængde [m³/h]", "supply l/s", "damper")]
    ['%', 'Hz', 'm3/h', 'l/s', None]
    """
    text = fold(f"{name} {unit}").replace("_", " ")
    return next((known for known, pattern in _UNITS.items() if re.search(pattern, text)), None)


def later_scale(values: NDArray[np.float64], own: Scale, trained: Scale, *, stated: bool) -> Scale | None:
    """Find the scale of a file that is read for a model trained on another file.

    Parameters
    ----------
    values : 1-D array
        Ventilation in the unit of the file, NaN where it is missing.
    own, trained : Scale
        What ``scale_of`` finds for this file, and what it was in training.
    stated : bool
        Whether the file says its unit. If not, that is a guess from values: of a quiet day 30 Hz look like
        30 %, and stages 0 and 1 of three like on and off. So the training's counts if they may be in it.

    Returns
    -------
    Scale or None
        The training's, or the file's own where both mean the same by 0..1; None where they do not.

    Examples
    --------
    >>> hertz, percent = Scale(50.0, "Hz"), Scale(100.0, "%")
    >>> later_scale(np.array([0.0, 30.0]), percent, hertz, stated=False)
    Scale(full=50.0, unit='Hz')
    >>> later_scale(np.array([0.0, 0.3]), Scale(1.0, "0..1"), percent, stated=False)
    Scale(full=1.0, unit='0..1')
    >>> later_scale(np.array([0.0, 30.0]), percent, hertz, stated=True) is None
    True
    """
    known = values[np.isfinite(values)]
    if own.unit == trained.unit or not known.any() or (not stated and _may_be(known, trained)):
        return trained
    return own if same_share(own, trained) else None


def _may_be(known: NDArray[np.float64], scale: Scale) -> bool:
    """Whether values may be on a scale: no more than it has, and not all of them next to nothing on it."""
    most = float(known.max(initial=0.0))
    if scale.unit == "steps":
        return most <= MOST_STEPS and bool(np.all(known == np.rint(known)))
    top = {"0..1": 1.0, "on/off": 1.0, "%": 100.0, "V": 10.0, "Hz": 60.0}.get(scale.unit, np.inf)
    return (1.0 if scale.full > 10 else 0.0) < most <= 1.1 * top


def scaled(
    values: NDArray[np.float64],
    scale: Scale,
    *,
    given: bool,
    column: str,
    source: Source,
    row_numbers: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Divide by the scale and keep to 0..1; what is far outside is an error that names its row.

    A little below 0 (5 % of full) is the noise of a sensor and counts as 0; a little above full (10 %),
    or anything above if the scale was ``given``, counts as 1. A lenient source keeps what is far outside.
    """
    shares = values / scale.full
    low, high = shares < -0.05, (shares > 1.1) & (not given) | np.isinf(shares)
    wrong = low | high
    if wrong.any() and source.strict:
        k = int(np.argmax(wrong))
        top = "" if given else f" to {scale.full:g}"
        rule = f"must be from 0{top} [{scale.unit}], got {values[k]:g}"
        raise source.error(rule, row=int(row_numbers[k]), column=column)
    return np.where(wrong, shares, np.clip(shares, 0.0, 1.0))


def check_full(full: float | None, unit: str | None = None) -> None:
    """Check what the caller says is fully on, and in which unit."""
    if unit is not None and full is None:
        raise InputError(f"ventilation_unit must come with ventilation_full, got {unit!r} alone")
    if full is not None and not (isinstance(full, int | float) and 0 < full < np.inf):
        raise InputError(f"ventilation_full must be a number above 0, in the file's unit, got {full!r}")


def _likely_unit(known: NDArray[np.float64], most: float, name: str) -> str:
    if most <= 1:
        return "0..1"
    if re.search(_FLOW, name) or most > 110:
        return "unknown"
    if re.search(_SPEED, name) and 45 <= most <= 61:
        return "Hz"
    if most <= MOST_STEPS and np.all(known == np.rint(known)):
        return "steps"
    return "%"


def _mains(most: float) -> float:
    return 50.0 if most <= 50.5 else 60.0 if most <= 61 else most
