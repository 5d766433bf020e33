"""Text of the report. Every statement is derived from the numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from occupair.report.number_format import estimator_name, people, percent
from occupair.report.paper_experiment import Reproduction
from occupair.report.published_results import PAPER_BEST_WITHIN, PAPER_SCORES
from occupair.wording import listed

LIVE, HINDSIGHT, DRIFTING, RAW, ELM = 26, 22, 24, 21, 4
CLAMPED_SHARE_REPORTED = 0.05  # fraction of clamped readings that is reported
ABOUT_THE_SAME_FACTOR = 1.1  # errors within this factor are called about the same


def headline(reproduction: Reproduction) -> str:
    """Summarise the result in one sentence."""
    live = reproduction.scores[LIVE]
    return (
        f"From CO2 and ventilation, the live estimate has an RMSE of {people(live.rmse)} "
        f"in an office with up to {reproduction.most_people} people."
    )


def summary(reproduction: Reproduction) -> str:
    """State the tolerance accuracy of the live estimator and compare it with the standard ELM."""
    live, elm = reproduction.scores[LIVE], reproduction.scores[ELM]
    return (
        f"It is within ±3 people of the true count in {percent(live.within_3)} of the readings and "
        f"within ±4 people in {percent(live.within_4)}. The standard ELM has an RMSE of {people(elm.rmse)}: "
        f"the error of the live estimator is {_compared(live.rmse, elm.rmse)}."
    )


def order_against_paper(reproduction: Reproduction) -> str:
    """Compare the ranking of the estimators by RMSE with that of the paper's Table II."""
    ours = best_first({equation: reproduction.scores[equation].rmse for equation in PAPER_SCORES})
    paper = best_first({equation: scores.rmse for equation, scores in PAPER_SCORES.items()})
    if ours == paper:
        return f"The ranking by RMSE is that of the paper: {_numbers(ours)}."
    return f"The ranking by RMSE is {_numbers(ours)}; in the paper it is {_numbers(paper)}."


def feedback(reproduction: Reproduction) -> str:
    """Describe the growth of errors in the feedback of past estimates, which determines stability."""
    raw, smoothed = reproduction.error_growth[RAW], reproduction.error_growth[HINDSIGHT]
    return (
        "Each estimator feeds its past estimates back. Every minute a small error in them is multiplied by "
        f"{raw:.3f} in (21), so {_stability(raw)}, and by {smoothed:.3f} in (22) and (26), "
        f"so {_stability(smoothed)}; medians over the training days."
    )


def rmse_caption(reproduction: Reproduction) -> str:
    """Caption of the RMSE figure: the ranking, and the largest difference from the paper."""
    ratios = {
        equation: reproduction.scores[equation].rmse / scores.rmse
        for equation, scores in PAPER_SCORES.items()
    }
    widest = max(ratios, key=lambda equation: abs(np.log(ratios[equation])))
    return (
        f"Lower is better. {order_against_paper(reproduction)} "
        f"The largest difference is for {estimator_name(widest)}: "
        f"{people(reproduction.scores[widest].rmse)} here, {people(PAPER_SCORES[widest].rmse)} in the paper."
    )


def co2_caption(reproduction: Reproduction) -> str:
    """Caption of the CO2 day: noise of the readings, and difference of live from global smoothing."""
    day = reproduction.co2_day
    scatter = float((day["raw"] - day["globally_smoothed"]).std())
    ends = [_end_of_local(day, minutes) for minutes in (680, 720)]
    return (
        f"The raw readings have a standard deviation of {scatter:.1f} ppm around the globally smoothed line. "
        f"Live, only past readings are available, so the latest values are uncertain: {'; '.join(ends)}. "
        "The lower panel shows the ends of the two live lines; shading marks ventilation on."
    )


def days_caption(reproduction: Reproduction) -> str:
    """Caption of the test days: the lowest error, the drift of (24), and estimates for the empty room."""
    errors = {equation: scores.rmse for equation, scores in reproduction.scores.items()}
    best = best_first(errors)[0]
    return (
        f"The grey area is the true count. "
        f"The lowest RMSE is that of {estimator_name(best)}, {people(errors[best])}; "
        f"the live estimator (26) has {people(errors[LIVE])}. "
        f"{_drift(reproduction)} {_empty_room(reproduction)}{_at_the_limit(reproduction)}"
    )


def tolerance_caption(reproduction: Reproduction) -> str:
    """Caption of the tolerance figure: exact estimates, and within three people."""
    table = reproduction.tolerance_accuracy
    exact, within_3 = _row(table, 0), _row(table, 3)
    most, close = max(exact, key=exact.__getitem__), max(within_3, key=within_3.__getitem__)
    paper = listed([f"{percent(share, decimals=0)} within ±{x}" for x, share in PAPER_BEST_WITHIN.items()])
    return (
        f"Percentage of estimates, rounded to whole people, within x people of the true count. "
        f"Exact: at best {percent(exact[most])}, {estimator_name(most)}. "
        f"Within ±3: at best {percent(within_3[close])}, {estimator_name(close)}; "
        f"live {percent(within_3[LIVE])}, standard ELM {percent(within_3[ELM])}. "
        f"The best estimator in the paper reaches {paper} (diamonds)."
    )


def saturation_caption(reproduction: Reproduction) -> str:
    """Caption of the saturation figure: the fraction of saturated neurons."""
    elm, scaled = reproduction.saturation[ELM], reproduction.saturation[RAW]
    verdict = (
        "Feature scaling reduces saturation."
        if scaled.share_beyond_5 < elm.share_beyond_5
        else "On these data, feature scaling does not reduce saturation."
    )
    return (
        "The output of a hidden neuron is h(z). For |z| above 5 the neuron is saturated at 0 or 1 and does "
        "not respond to its inputs. Over the training readings, "
        f"{percent(elm.share_beyond_5)} of all z are in this range in the standard ELM "
        f"and {percent(scaled.share_beyond_5)} in FS-ELM; {percent(elm.share_always_beyond_5)} and "
        f"{percent(scaled.share_always_beyond_5)} of the neurons are always saturated. {verdict}"
    )


def best_first(errors: dict[int, float]) -> list[int]:
    """Sort estimators by increasing error.

    Examples
    --------
    >>> best_first({4: 5.9, 22: 1.7, 26: 2.1})
    [22, 26, 4]
    """
    return sorted(errors, key=lambda equation: errors[equation])


def _compared(error: float, other: float) -> str:
    ratio = other / error if error > 0 else np.inf
    if ratio > ABOUT_THE_SAME_FACTOR:
        return f"smaller by a factor of {ratio:.1f}" if np.isfinite(ratio) else "zero"
    return "about the same" if ratio > 1 / ABOUT_THE_SAME_FACTOR else f"larger by a factor of {1 / ratio:.1f}"


def _stability(growth: float) -> str:
    if growth > 1:
        return f"errors double in {np.log(2) / np.log(growth):.0f} min (unstable)"
    return f"errors halve in {np.log(2) / -np.log(growth):.0f} min (stable)"


def _numbers(equations: list[int]) -> str:
    return ", ".join(f"({equation})" for equation in equations)


def _row(table: pd.DataFrame, tolerance: int) -> dict[int, float]:
    return {int(equation): float(table[equation].loc[tolerance]) for equation in table.columns}


def _end_of_local(day: pd.DataFrame, minutes: int) -> str:
    gap = (day[f"locally_smoothed_{minutes}"] - day["globally_smoothed"]).dropna().abs()
    hour_before = gap.loc[: gap.index[-1] - pd.Timedelta(hours=1)]
    earlier = f" ({hour_before.iloc[-1]:.1f} ppm an hour earlier)" if len(hour_before) else ""
    now = f"at {gap.index[-1]:%H:%M}, after {minutes} min, the difference is {gap.iloc[-1]:.1f} ppm"
    return now + earlier


def _drift(reproduction: Reproduction) -> str:
    drifting, live = reproduction.scores[DRIFTING].rmse, reproduction.scores[LIVE].rmse
    if drifting > ABOUT_THE_SAME_FACTOR * live:
        return (
            f"(24) feeds back its earlier estimates and drifts: RMSE {people(drifting)}, "
            f"{drifting / live:.1f} times that of (26), which re-estimates the whole day at every reading."
        )
    return (
        "The paper reports that (24), which feeds back its earlier estimates, drifts; "
        f"on these days it does not: RMSE {people(drifting)}."
    )


def _at_the_limit(reproduction: Reproduction) -> str:
    """Name the estimators that are often wrongly clamped at the maximum occupancy in training."""
    limit = reproduction.most_people - 0.5
    wrongly = reproduction.estimates.ge(limit).mul(reproduction.truth < limit, axis=0).mean()
    stuck = [
        f"({equation}) {percent(float(share))}"
        for equation, share in wrongly.items()
        if share > CLAMPED_SHARE_REPORTED
    ]
    if not stuck:
        return ""
    return (
        f" Estimates are clamped at the maximum occupancy in training, {reproduction.most_people} people; "
        f"wrongly at this limit, as a fraction of all readings: {listed(stuck)}."
    )


def _empty_room(reproduction: Reproduction) -> str:
    empty = reproduction.truth == 0
    if not empty.any():
        return "The room is never empty on these days."
    mean = reproduction.estimates.loc[empty].mean()
    return (
        f"For the empty room, the standard ELM estimates {people(float(mean[ELM]))} on average "
        f"and the live estimator {people(float(mean[LIVE]))}."
    )
