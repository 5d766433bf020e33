"""What the reader is told to see. Every statement is worked out from the numbers, none is assumed."""

from __future__ import annotations

import numpy as np
import pandas as pd

from occupair.report.number_format import estimator_name, listed, people, percent
from occupair.report.paper_experiment import Reproduction
from occupair.report.published_results import PAPER_BEST_WITHIN, PAPER_SCORES

LIVE, HINDSIGHT, DRIFTING, RAW, ELM = 26, 22, 24, 21, 4
OFTEN = 0.05  # share of readings from which being cut off is worth a sentence
NOTICEABLE = 1.1  # errors closer than this factor are called about the same


def headline(reproduction: Reproduction) -> str:
    """Say what came out in one sentence."""
    live = reproduction.scores[LIVE]
    return (
        f"From CO2 and ventilation so far, the live estimate is {people(live.rmse)} off (RMSE) "
        f"in an office of up to {reproduction.most_people}."
    )


def summary(reproduction: Reproduction) -> str:
    """Say how often that is close enough, and how it compares with the standard ELM."""
    live, elm = reproduction.scores[LIVE], reproduction.scores[ELM]
    return (
        f"It is within three people of the true count for {percent(live.within_3)} of the readings and "
        f"within four for {percent(live.within_4)}. The standard ELM is {people(elm.rmse)} off: "
        f"the live estimator's error is {_compared(live.rmse, elm.rmse)}."
    )


def order_against_paper(reproduction: Reproduction) -> str:
    """Compare the order of the estimators by RMSE with the order in the paper's Table II."""
    ours = best_first({equation: reproduction.scores[equation].rmse for equation in PAPER_SCORES})
    paper = best_first({equation: scores.rmse for equation, scores in PAPER_SCORES.items()})
    if ours == paper:
        return f"By RMSE the order is the paper's, best first: {_numbers(ours)}."
    return f"By RMSE the order is {_numbers(ours)}, best first; the paper's is {_numbers(paper)}."


def feedback(reproduction: Reproduction) -> str:
    """Say what each estimator does with errors of its own past, which decides whether it can run away."""
    raw, smoothed = reproduction.error_growth[RAW], reproduction.error_growth[HINDSIGHT]
    return (
        "Every estimator runs on its own past estimates. A small error in them is multiplied each minute by "
        f"{raw:.3f} in (21), which therefore {_fate(raw)}, and by {smoothed:.3f} in (22) and (26), "
        f"which {_fate(smoothed).replace('forgets', 'forget').replace('runs', 'run')} "
        "(medians over the training days)."
    )


def rmse_caption(reproduction: Reproduction) -> str:
    """Caption of the RMSE figure: the order, and where ours and the paper's differ most."""
    ratios = {
        equation: reproduction.scores[equation].rmse / scores.rmse
        for equation, scores in PAPER_SCORES.items()
    }
    widest = max(ratios, key=lambda equation: abs(np.log(ratios[equation])))
    return (
        f"Further left is better. {order_against_paper(reproduction)} "
        f"The two differ most for {estimator_name(widest)}: {people(reproduction.scores[widest].rmse)} here, "
        f"{people(PAPER_SCORES[widest].rmse)} in the paper."
    )


def co2_caption(reproduction: Reproduction) -> str:
    """Caption of the CO2 day: how rough the readings are and where smoothing live differs from hindsight."""
    day = reproduction.co2_day
    scatter = float((day["raw"] - day["globally_smoothed"]).std())
    ends = [_end_of_local(day, minutes) for minutes in (680, 720)]
    return (
        f"The raw readings scatter by {scatter:.1f} ppm around the line smoothed with the whole day in hand. "
        f"Live, only the readings so far can be smoothed, so the newest end is uncertain: {'; '.join(ends)}. "
        "The lower panel shows those two ends up close; shading marks when the ventilation is on."
    )


def days_caption(reproduction: Reproduction) -> str:
    """Caption of the test days: who is closest, whether (24) drifts, and what is seen in an empty room."""
    errors = {equation: scores.rmse for equation, scores in reproduction.scores.items()}
    best = best_first(errors)[0]
    return (
        f"The grey area is the true count; the closer a line keeps to its edge, the better. "
        f"Closest is {estimator_name(best)}, {people(errors[best])} off (RMSE); "
        f"live, (26) is {people(errors[LIVE])} off. "
        f"{_drift(reproduction)} {_empty_room(reproduction)}{_at_the_limit(reproduction)}"
    )


def tolerance_caption(reproduction: Reproduction) -> str:
    """Caption of the tolerance figure: exact, and within three people."""
    table = reproduction.tolerance_accuracy
    exact, within_3 = _row(table, 0), _row(table, 3)
    most, close = max(exact, key=exact.__getitem__), max(within_3, key=within_3.__getitem__)
    paper = listed([f"{percent(share, decimals=0)} within {x}" for x, share in PAPER_BEST_WITHIN.items()])
    return (
        f"How often an estimate, rounded to whole people, is at most so many people wrong. "
        f"Exactly right: at best {percent(exact[most])}, by {estimator_name(most)}. "
        f"Within three: at best {percent(within_3[close])}, by {estimator_name(close)}; "
        f"live {percent(within_3[LIVE])}, standard ELM {percent(within_3[ELM])}. "
        f"The paper's best reaches {paper} (diamonds)."
    )


def saturation_caption(reproduction: Reproduction) -> str:
    """Caption of the saturation figure: how much of each network is stuck at 0 or 1."""
    elm, scaled = reproduction.saturation[ELM], reproduction.saturation[RAW]
    verdict = (
        "Scaling the features keeps more of the neurons where they can respond."
        if scaled.share_beyond_5 < elm.share_beyond_5
        else "On these data scaling the features does not help with that."
    )
    return (
        "A hidden neuron passes on h(z). Where |z| is more than 5 the curve is flat, so the neuron says "
        "0 or 1 whatever it is shown. Of all inputs z over the training readings, "
        f"{percent(elm.share_beyond_5)} lie out there in the standard ELM "
        f"and {percent(scaled.share_beyond_5)} in FS-ELM; {percent(elm.share_always_beyond_5)} and "
        f"{percent(scaled.share_always_beyond_5)} of the neurons never come back. {verdict}"
    )


def best_first(errors: dict[int, float]) -> list[int]:
    """Sort estimators by their error.

    Examples
    --------
    >>> best_first({4: 5.9, 22: 1.7, 26: 2.1})
    [22, 26, 4]
    """
    return sorted(errors, key=lambda equation: errors[equation])


def _compared(error: float, other: float) -> str:
    ratio = other / error if error > 0 else np.inf
    if ratio > NOTICEABLE:
        return f"{ratio:.1f} times smaller" if np.isfinite(ratio) else "nil"
    return "about the same" if ratio > 1 / NOTICEABLE else f"{1 / ratio:.1f} times larger"


def _fate(growth: float) -> str:
    if growth > 1:
        return f"runs away: an error doubles in {np.log(2) / np.log(growth):.0f} minutes"
    return f"forgets: an error halves in {np.log(2) / -np.log(growth):.0f} minutes"


def _numbers(equations: list[int]) -> str:
    return ", ".join(f"({equation})" for equation in equations)


def _row(table: pd.DataFrame, tolerance: int) -> dict[int, float]:
    return {int(equation): float(table[equation].loc[tolerance]) for equation in table.columns}


def _end_of_local(day: pd.DataFrame, minutes: int) -> str:
    gap = (day[f"locally_smoothed_{minutes}"] - day["globally_smoothed"]).dropna().abs()
    hour_before = gap.loc[: gap.index[-1] - pd.Timedelta(hours=1)]
    earlier = f" ({hour_before.iloc[-1]:.1f} ppm an hour earlier)" if len(hour_before) else ""
    now = f"at {gap.index[-1]:%H:%M}, after {minutes} minutes, it is {gap.iloc[-1]:.1f} ppm from hindsight"
    return now + earlier


def _drift(reproduction: Reproduction) -> str:
    drifting, live = reproduction.scores[DRIFTING].rmse, reproduction.scores[LIVE].rmse
    if drifting > NOTICEABLE * live:
        return (
            f"(24) builds on its own earlier estimates and drifts: {people(drifting)} off, "
            f"{drifting / live:.1f} times (26), which works the whole day out anew at every reading."
        )
    return (
        "The paper warns that (24), which builds on its own earlier estimates, drifts; "
        f"on these days it does not: {people(drifting)} off."
    )


def _at_the_limit(reproduction: Reproduction) -> str:
    """Name the estimators that are often cut off at the most people seen in training, if any are."""
    limit = reproduction.most_people - 0.5
    wrongly = reproduction.estimates.ge(limit).mul(reproduction.truth < limit, axis=0).mean()
    stuck = [
        f"({equation}) for {percent(float(share))}" for equation, share in wrongly.items() if share > OFTEN
    ]
    if not stuck:
        return ""
    return (
        f" Estimates are cut off at the {reproduction.most_people} people seen in training; "
        f"wrongly up there, as a share of all readings: {listed(stuck)}."
    )


def _empty_room(reproduction: Reproduction) -> str:
    empty = reproduction.truth == 0
    if not empty.any():
        return "The room is never empty on these days."
    seen = reproduction.estimates.loc[empty].mean()
    return (
        f"While the room is empty the standard ELM sees {people(float(seen[ELM]))} on average "
        f"and the live estimator {people(float(seen[LIVE]))}."
    )
