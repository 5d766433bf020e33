"""Results of the study as tables and sentences."""

from __future__ import annotations

import math

from occupair.report.number_format import DASH
from occupair.report.text_table import Table
from occupair.savings.policy_list import CURVES, POLICY_NAMES, PolicyName
from occupair.savings.result import Mean, StudyResult

NOTES = (
    "air, heating, fan: percent of the fixed design flow, with the same seed. >1000 ppm, below flow, <90 % "
    "of flow: percent of person-hours in operating hours with CO2 above 1,000 ppm where people sit, with "
    "less outdoor air than the standard requires for the true count, and with less than 90 % of it. "
    "±: 95 % confidence interval of the mean over seeds."
)


def summary_table(result: StudyResult) -> Table:
    """Return the main table: air and energy relative to the fixed flow, and air quality."""
    heads = ["policy", "trained on", "air", "heating", "fan", ">1000 ppm", "below flow", "<90 % of flow"]
    rows = []
    for name in POLICY_NAMES:
        relative = [result.relative(name.key, one) for one in ("outdoor_air", "heating", "fan")]
        shares = [result.share(name.key, one) for one in ("above_limit", "below_flow", "well_below_flow")]
        rows.append([name.label, name.training, *map(in_percent, [*relative, *shares])])
    return Table(heads, rows)


def totals_table(result: StudyResult) -> Table:
    """Return totals over the evaluated days of every policy."""
    heads = [
        "policy",
        "trained on",
        "air [m3]",
        "heating [kWh]",
        "fan [kWh]",
        ">1000 ppm [h]",
        "below flow [h]",
    ]
    names = ("outdoor_air", "heating", "fan", "above_limit", "below_flow")
    rows = [
        [name.label, name.training, *(_whole(result.total(name.key, one)) for one in names)]
        for name in POLICY_NAMES
    ]
    return Table(heads, rows)


def error_table(result: StudyResult) -> Table:
    """Return the errors of the counts in the loop: each estimator under the flows that it causes itself."""
    heads = ["policy", "trained on", "RMSE [people]", "mean error [people]", "counts within bound"]
    rows = []
    for name in _estimating():
        rmse, bias, coverage = (
            result.mean(name.key, one) for one in (lambda r: r.rmse, lambda r: r.bias, lambda r: r.coverage)
        )
        has_bound = "bound" in name.label
        rows.append(
            [
                name.label,
                name.training,
                _plus_minus(rmse, "{:.2f}"),
                _plus_minus(bias, "{:+.2f}"),
                in_percent(coverage) + " %" if has_bound else DASH,
            ]
        )
    return Table(heads, rows)


def curve_table(result: StudyResult) -> Table:
    """Return the points of the trade-off curves."""
    heads = ["curve", "policy", "air", "heating", ">1000 ppm", "below flow"]
    rows = [
        [
            curve,
            key,
            in_percent(result.relative(key, "outdoor_air")),
            in_percent(result.relative(key, "heating")),
            in_percent(result.share(key, "above_limit")),
            in_percent(result.share(key, "below_flow")),
        ]
        for curve, keys in CURVES.items()
        for key in keys
    ]
    return Table(heads, rows)


def _estimating() -> list[PolicyName]:
    return [one for one in POLICY_NAMES if one.key.startswith(("paper", "default", "upper", "physics"))]


def conclusions(result: StudyResult) -> list[str]:
    """State the main results in plain sentences."""
    upper, true = "upper-stepped", "true"
    saved = {key: _one_minus(result.relative(key, "outdoor_air")) for key in (upper, true)}
    return [
        f"The upper bound saves {in_percent(saved[upper])} % of the outdoor air of the fixed design flow, "
        f"the true count {in_percent(saved[true])} %.",
        f"Below the required flow: {in_percent(result.share(upper, 'below_flow'))} % of person-hours with "
        f"the upper bound, {in_percent(result.share('true-at-readings', 'below_flow'))} % with the true "
        f"count at the same readings, {in_percent(result.share(true, 'below_flow'))} % with the true count "
        "every minute.",
        _against(result, "co2-proportional", "CO2 control, tuned to be below the flow as rarely"),
        _against(result, "schedule", "The schedule"),
        _regimes(result),
        f"Above 1,000 ppm: {in_percent(result.share('fixed', 'above_limit'))} % of person-hours with the "
        f"fixed flow, {in_percent(result.share(upper, 'above_limit'))} % with the upper bound, "
        f"{in_percent(result.share('co2-proportional', 'above_limit'))} % with tuned CO2 control.",
    ]


def _against(result: StudyResult, key: str, what: str) -> str:
    """Compare a policy with the upper bound, paired by seed."""
    air, heating = (result.relative(key, one, "upper-stepped") for one in ("outdoor_air", "heating"))
    below = result.share_difference(key, "upper-stepped", "below_flow")
    return (
        f"{what} against the upper bound: outdoor air {_signed(_minus_one(air))} %{_doubt(air)}, heating "
        f"{_signed(_minus_one(heating))} %{_doubt(heating)}, person-hours below the flow {_signed(below)} "
        "points."
    )


def _regimes(result: StudyResult) -> str:
    covered = {
        key: in_percent(result.mean(f"upper-{key}", lambda one: one.coverage)) for key in ("fixed", "stepped")
    }
    bias = {key: result.mean(f"default-{key}", lambda one: one.bias).value for key in ("fixed", "stepped")}
    return (
        f"An estimator trained at fixed flow and used with modulated flow has a mean error of "
        f"{bias['fixed']:+.2f} people, and its 95 % bound covers {covered['fixed']} % of the true counts; "
        f"trained on days with stepped flow, {bias['stepped']:+.2f} people and {covered['stepped']} %."
    )


def _one_minus(mean: Mean) -> Mean:
    return Mean(1 - mean.value, mean.half_width)


def _minus_one(ratio: Mean) -> Mean:
    return Mean(ratio.value - 1, ratio.half_width)


def _doubt(ratio: Mean) -> str:
    """Point out that the interval of a ratio includes 1."""
    return " (no clear difference)" if abs(ratio.value - 1) <= ratio.half_width else ""


def in_percent(mean: Mean) -> str:
    """Format a fraction as percent with its interval, without the sign.

    Examples
    --------
    >>> in_percent(Mean(0.592, 0.0031)), in_percent(Mean(0.004, float("nan"))), in_percent(Mean(1.0, 0.0))
    ('59.2 ± 0.3', '0.4', '100')
    """
    if mean == (1.0, 0.0):
        return "100"
    if mean == (0.0, 0.0):
        return "0"
    return _plus_minus(Mean(100 * mean.value, 100 * mean.half_width), "{:.1f}")


def _signed(mean: Mean) -> str:
    return _plus_minus(Mean(100 * mean.value, 100 * mean.half_width), "{:+.1f}")


def _whole(mean: Mean) -> str:
    return _plus_minus(mean, "{:,.0f}")


def _plus_minus(mean: Mean, form: str) -> str:
    if math.isnan(mean.value):
        return DASH
    if math.isnan(mean.half_width):
        return form.format(mean.value)
    return f"{form.format(mean.value)} ± {form.replace('+', '').format(mean.half_width)}"
