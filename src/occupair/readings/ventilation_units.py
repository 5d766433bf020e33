"""Conversion of ventilation from the unit of a file to a fraction of full ventilation, 0..1.

The scale belongs to the model: ``fit`` stores it, and later files are converted with the scale of
training, not with their own maximum.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.readings.column_names import fold_text, squeeze_name
from occupair.readings.number_column import as_text, blocks, is_missing
from occupair.readings.source import Source
from occupair.readings.ventilation_scale import NO_UNIT, NOISE, Scale, same_fraction, scale_in_name
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
    "on/off": r"\bon\s*/\s*off\b",
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
QUANTILE = 0.999
"""Full ventilation of a flow is this quantile of its values, not their maximum, which depends on noise."""
MAX_STAGE = 10
"""Integers up to this are read as fan stages."""
_FLOW = "flow|strom|maengde|menge|debit|caudal|debiet"
_SPEED = "speed|frequen|drehzahl|hastighed|vitesse"


def parse_on_off(
    column: pd.Series, *, source: Source, row_numbers: NDArray[np.int64]
) -> tuple[pd.Series, bool]:
    """Replace on and off, in six languages, by 1 and 0; also return whether the column is on/off only.

    "Off" may occur among other numbers and is 0 there; "on" may not, as its value is unknown.

    Examples
    --------
    >>> where = {"source": Source("room.csv"), "row_numbers": np.arange(3)}
    >>> column, on_off = parse_on_off(pd.Series(["Ein", "aus", ""]), **where)
    >>> column.tolist(), on_off
    (['1', '0', ''], True)
    """
    if pd.api.types.is_numeric_dtype(column):
        plain = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return pd.Series(plain, index=column.index, name=str(column.name)), pd.api.types.is_bool_dtype(column)
    if not any(as_text(block).str.contains(r"[^\W\d_]").any() for block in blocks(column)):
        return column, False  # without letters, which spares the memory for a long column
    codes, distinct = pd.factorize(as_text(column))
    texts = pd.Series(distinct, dtype=str)
    folded = texts.map(lambda text: fold_text(text).strip())
    on, off = folded.str.fullmatch(ON), folded.str.fullmatch(OFF)
    others = texts[~on & ~off & ~is_missing(texts) & ~folded.isin(["0", "1", "0.0", "1.0"])]
    if on.any() and len(others) and not source.strict:
        on &= False  # left as text, which is reported as not a number
    elif on.any() and len(others):
        k = int(np.argmax(on.to_numpy()[codes]))
        rule = f"must be a number like {quoted(others.iloc[0])}, got {quoted(str(column.iloc[k]))}"
        raise source.error(rule, row=int(row_numbers[k]), column=str(column.name))
    written = texts.mask(on, "1").mask(off, "0").to_numpy()[codes]
    on_off = bool(on.any() or off.any()) and others.empty
    return pd.Series(written, index=column.index, name=str(column.name), dtype=str), on_off


def find_scale(values: NDArray[np.float64], *, name: str, unit: str, on_off: bool) -> Scale:
    """Return the scale of a ventilation column: the value of full ventilation and its unit.

    Parameters
    ----------
    values : 1-D array
        Ventilation in the unit of the file; NaN is missing.
    name, unit : str
        Name of the column, and its unit if given separately.
    on_off : bool
        Whether the column only holds on and off.

    Returns
    -------
    Scale
        The range stated in the name, such as ``[0..4800 m3/h]``. Otherwise full ventilation is 100 for a
        stated percentage, 10 for a voltage, 50 Hz for a frequency, or 60 if it exceeds 50, and
        ``highest_level`` for a stated flow. Without a stated unit, the highest level decides: up to 1, or
        little more, it is a fraction, a fan speed of 45 to 61 is in Hz, integers up to 10 are fan stages,
        other values up to 100 are percentages, and larger values relate to the highest level.

    Examples
    --------
    >>> find_scale(np.array([0.0, 850.0]), name="Zuluft [m³/h]", unit="", on_off=False)
    Scale(full=850.0, unit='m3/h')
    >>> find_scale(np.array([0.0, 49.9]), name="fcu_fan_speed", unit="", on_off=False)
    Scale(full=50.0, unit='Hz')
    """
    if on_off:
        return Scale(1.0, "on/off")
    if (stated := scale_in_name(name)) is not None:
        return Scale(stated.full, stated_unit(stated.unit) or stated.unit)
    known = values[np.isfinite(values)]
    highest = highest_level(known)
    unit = stated_unit(name, unit) or _likely_unit(known, highest, squeeze_name(name))
    fixed = {"0..1": 1.0, "on/off": 1.0, "%": 100.0, "V": 10.0, "Hz": _mains(highest)}
    return Scale(fixed.get(unit, highest) or 1.0, unit)


def highest_level(known: NDArray[np.float64]) -> float:
    """Return the 99.9 % quantile, or the maximum if that is higher by more than noise: a level rarely used.

    Examples
    --------
    >>> rarely_on = np.r_[np.full(2000, 1200.0), 4800.0]
    >>> highest_level(rarely_on), highest_level(np.r_[rarely_on, np.full(20, 4700.0)])
    (4800.0, 4700.0)
    """
    if not known.size:
        return 0.0
    quantile, maximum = float(np.quantile(known, QUANTILE, method="inverted_cdf")), float(known.max())
    return max(0.0, quantile if maximum <= (1 + NOISE) * quantile else maximum)


def scale_basis(values: NDArray[np.float64], scale: Scale, *, name: str) -> str:
    """Return what the value of full ventilation is based on, "" if the unit or the name states it."""
    if scale_in_name(name) is not None or scale.unit in ("0..1", "on/off", "%", "V", "Hz"):
        return ""
    return "maximum" if scale.full >= np.nanmax(values, initial=0.0) else f"{QUANTILE * 100:g} % quantile"


def stated_unit(name: str, unit: str = "") -> str | None:
    """Return the unit stated in the name of a column or below it, None if there is none.

    Examples
    --------
    >>> [stated_unit(name) for name in ("Damper (%)", "fan_hz", "Luftmængde [m³/h]", "supply l/s", "damper")]
    ['%', 'Hz', 'm3/h', 'l/s', None]
    """
    text = fold_text(f"{name} {unit}").replace("_", " ")
    return next((known for known, pattern in _UNITS.items() if re.search(pattern, text)), None)


def matching_scale(values: NDArray[np.float64], own: Scale, trained: Scale, *, stated: bool) -> Scale | None:
    """Return the scale for a file that is read for a model trained on another file.

    Parameters
    ----------
    values : 1-D array
        Ventilation in the unit of the file; NaN is missing.
    own, trained : Scale
        The scale that ``find_scale`` finds for this file, and that of training.
    stated : bool
        Whether the file states its unit. If not, ``own`` is inferred from the values and may be wrong: on
        a day with little ventilation, 30 Hz looks like 30 %, and stages 0 and 1 of three look like on and
        off. The scale of training is then used if the values fit it.

    Returns
    -------
    Scale or None
        The scale of training, or the file's own if fractions mean the same on both; None if neither fits.

    Examples
    --------
    >>> hertz, percent = Scale(50.0, "Hz"), Scale(100.0, "%")
    >>> matching_scale(np.array([0.0, 30.0]), percent, hertz, stated=False)
    Scale(full=50.0, unit='Hz')
    >>> matching_scale(np.array([0.0, 0.3]), Scale(1.0, "0..1"), percent, stated=False)
    Scale(full=1.0, unit='0..1')
    >>> matching_scale(np.array([0.0, 30.0]), percent, hertz, stated=True) is None
    True
    """
    known = values[np.isfinite(values)]
    if own.unit == trained.unit or not known.any() or (not stated and _may_be(known, trained)):
        return trained
    return own if same_fraction(own, trained) else None


def _may_be(known: NDArray[np.float64], scale: Scale) -> bool:
    """Whether values fit a scale: none above full, and not all of them near 0."""
    highest = highest_level(known)
    if scale.unit == "steps":
        return highest <= MAX_STAGE and bool(np.all(known == np.rint(known)))
    top = {"0..1": 1.0, "on/off": 1.0, "%": 100.0, "V": 10.0, "Hz": 60.0}.get(scale.unit, np.inf)
    return (1.0 if scale.full > 10 else 0.0) < highest <= (1 + NOISE) * top


def to_fraction(
    values: NDArray[np.float64],
    scale: Scale,
    *,
    given: bool,
    column: str,
    source: Source,
    row_numbers: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Divide by the scale and clip to 0..1; values far outside are an error with their row.

    Values that are below off or above full by no more than ``NOISE`` count as off and full, and so do all
    values above full if the scale is ``given``. With a lenient source, other values are unchanged.
    """
    fraction = values / scale.full
    low, high = fraction < -NOISE, (fraction > 1 + NOISE) & (not given) | np.isinf(fraction)
    invalid = low | high
    if invalid.any() and source.strict:
        k = int(np.argmax(invalid))
        rule = "must be finite and 0 or more" if given else f"must be from 0 to {scale.full:g}"
        rule = f"{rule} [{scale.unit}], got {values[k]:g}"
        raise source.error(rule, row=int(row_numbers[k]), column=column)
    return np.where(invalid, fraction, np.clip(fraction, 0.0, 1.0))


def check_scale_options(full: float | None, unit: str | None = None) -> None:
    """Raise InputError if ``ventilation_full`` or ``ventilation_unit`` is invalid."""
    if unit is not None and full is None:
        raise InputError(f"ventilation_unit needs ventilation_full, got only {unit!r}")
    if full is not None and not (isinstance(full, int | float) and 0 < full < np.inf):
        raise InputError(f"ventilation_full must be a number above 0 in the unit of the file, got {full!r}")


def _likely_unit(known: NDArray[np.float64], highest: float, name: str) -> str:
    if highest <= 1 + NOISE:
        return "0..1"
    if re.search(_FLOW, name) or highest > 110:
        return NO_UNIT
    if re.search(_SPEED, name) and 45 <= highest <= 61:
        return "Hz"
    if highest <= MAX_STAGE and np.all(known == np.rint(known)):
        return "steps"
    return "%"


def _mains(highest: float) -> float:
    return 50.0 if highest <= 50.5 else 60.0 if highest <= 61 else highest
