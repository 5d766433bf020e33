"""Number formats and estimator names used in tables, captions and figures."""

from __future__ import annotations

import math

import numpy as np

from occupair.report.published_results import ESTIMATOR_NAMES

DASH = "–"


def four_decimals(value: float | None) -> str:
    """Format a score as in the paper's Table II, or a dash if it is missing.

    Examples
    --------
    >>> four_decimals(2.13449), four_decimals(None), four_decimals(float("nan"))
    ('2.1345', '–', '–')
    """
    return f"{value:.4f}" if value is not None and math.isfinite(value) else DASH


def percent(share: float | None, *, decimals: int = 1) -> str:
    """Format a fraction [0..1] as a percentage; 0 % and 100 % are exact.

    Examples
    --------
    >>> percent(0.8912), percent(0.89, decimals=0), percent(1.0), percent(0.99999), percent(1e-6)
    ('89.1 %', '89 %', '100 %', 'over 99.9 %', 'under 0.1 %')
    """
    if share is None or not math.isfinite(share):
        return DASH
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    step = 10.0**-decimals
    written = round(100 * share, decimals)
    if written >= 100:
        return f"over {100 - step:.{decimals}f} %"
    return f"under {step:.{decimals}f} %" if written <= 0 else f"{written:.{decimals}f} %"


def two_digits(value: float | None) -> str:
    """Format a scale of Table I with two significant digits and no exponent.

    Examples
    --------
    >>> two_digits(0.00012345), two_digits(0.005), two_digits(None)
    ('0.00012', '0.005', '–')
    """
    if value is None or not math.isfinite(value):
        return DASH
    return str(np.format_float_positional(value, precision=2, fractional=False, trim="-"))


def people(count: float) -> str:
    """Format a number of people.

    Examples
    --------
    >>> people(1.0), people(2.134)
    ('1.0 people', '2.1 people')
    """
    return f"{count:.1f} people" if math.isfinite(count) else DASH


def estimator_name(equation: int) -> str:
    """Return the name of an estimator with its equation number.

    Examples
    --------
    >>> estimator_name(4)
    '(4) standard ELM'
    """
    return f"({equation}) {ESTIMATOR_NAMES[equation]}"
