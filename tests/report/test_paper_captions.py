from __future__ import annotations

from dataclasses import replace

import pytest

from occupair.report import paper_captions


def with_rmse(reproduction, **errors):
    scores = dict(reproduction.scores)
    for name, rmse in errors.items():
        equation = int(name.removeprefix("eq"))
        scores[equation] = replace(scores[equation], rmse=rmse)
    return replace(reproduction, scores=scores)


def test_headline_has_live_rmse_and_maximum_occupancy(reproduction):
    words = paper_captions.headline(with_rmse(reproduction, eq26=2.13))
    assert "RMSE of 2.1 people" in words
    assert "up to 28" in words


@pytest.mark.parametrize(
    ("live", "elm", "verdict"),
    [
        (2.0, 6.0, "smaller by a factor of 3.0"),
        (2.0, 2.1, "about the same"),
        (6.0, 2.0, "larger by a factor of 3.0"),
        (0, 1, "zero"),
    ],
)
def test_summary_compares_with_the_standard_elm(reproduction, live, elm, verdict):
    assert verdict in paper_captions.summary(with_rmse(reproduction, eq26=live, eq4=elm))


def test_ranking_is_compared_with_the_paper(reproduction):
    same = with_rmse(reproduction, eq22=1, eq26=2, eq21=3, eq4=4)
    other = with_rmse(reproduction, eq22=1, eq26=2, eq21=5, eq4=4)
    assert (
        paper_captions.order_against_paper(same)
        == "The ranking by RMSE is that of the paper: (22), (26), (21), (4)."
    )
    assert paper_captions.order_against_paper(other) == (
        "The ranking by RMSE is (22), (26), (4), (21); in the paper it is (22), (26), (21), (4)."
    )


def test_rmse_caption_names_the_largest_difference(reproduction):
    words = paper_captions.rmse_caption(with_rmse(reproduction, eq22=1.8, eq26=2.1, eq21=3.2, eq4=0.5))
    assert "difference is for (4) standard ELM: 0.5 people here, 6.0 people in the paper" in words


def test_drift_is_reported_only_if_it_occurs(reproduction):
    assert "drifts: RMSE 6.0 people, 3.0 times that of (26)" in paper_captions.days_caption(
        with_rmse(reproduction, eq24=6, eq26=2)
    )
    assert "on these days it does not" in paper_captions.days_caption(with_rmse(reproduction, eq24=2, eq26=2))


def test_days_caption_names_the_lowest_rmse(reproduction):
    words = paper_captions.days_caption(with_rmse(reproduction, eq4=0.1))
    assert "lowest RMSE is that of (4) standard ELM, 0.1 people" in words


def test_days_caption_has_mean_estimates_of_the_empty_room(reproduction):
    estimates = reproduction.estimates.copy()
    estimates.loc[reproduction.truth == 0, [4, 26]] = [3.0, 0.5]
    words = paper_captions.days_caption(replace(reproduction, estimates=estimates))
    assert "standard ELM estimates 3.0 people on average and the live estimator 0.5 people" in words


def test_days_caption_of_a_room_that_is_never_empty(reproduction):
    assert "never empty" in paper_captions.days_caption(replace(reproduction, truth=reproduction.truth + 1))


def test_tolerance_caption(reproduction):
    table = reproduction.tolerance_accuracy.copy()
    table.loc[0] = [0.1, 0.2, 0.3, 0.4, 0.456]
    table.loc[3] = [0.5, 0.6, 0.89, 0.7, 0.8]
    words = paper_captions.tolerance_caption(replace(reproduction, tolerance_accuracy=table))
    assert "at best 45.6 %, (26) FS-ELM live, three steps" in words
    assert "at best 89.0 %, (22)" in words
    assert "live 80.0 %, standard ELM 50.0 %" in words
    assert "89 % within ±3 and 94 % within ±4" in words


def test_co2_caption_has_the_difference_at_the_end_and_an_hour_before(reproduction):
    day = reproduction.co2_day.copy()
    day["locally_smoothed_680"] = (day["globally_smoothed"] + 2.0).where(day["locally_smoothed_680"].notna())
    day.iloc[679, day.columns.get_loc("locally_smoothed_680")] += 5.0
    words = paper_captions.co2_caption(replace(reproduction, co2_day=day))
    assert "at 11:19, after 680 min, the difference is 7.0 ppm (2.0 ppm an hour earlier)" in words


def test_saturation_caption_compares_both_networks(reproduction):
    swapped = {4: reproduction.saturation[21], 21: reproduction.saturation[4]}
    assert "Feature scaling reduces saturation." in paper_captions.saturation_caption(reproduction)
    unscaled = replace(reproduction, saturation=swapped)
    assert "does not reduce saturation" in paper_captions.saturation_caption(unscaled)


def test_clamped_estimators_are_named(reproduction):
    estimates = reproduction.estimates.clip(upper=20)
    assert "clamped" not in paper_captions.days_caption(replace(reproduction, estimates=estimates))
    estimates.iloc[:1800, estimates.columns.get_loc(21)] = 28.0  # a quarter of the 7200 readings
    truth = reproduction.truth.clip(upper=20)
    words = paper_captions.days_caption(replace(reproduction, estimates=estimates, truth=truth))
    assert "clamped at the maximum occupancy in training, 28 people" in words
    assert words.endswith("as a fraction of all readings: (21) 25.0 %.")


def test_feedback_describes_stability(reproduction):
    # ln 2 / ln 1.01 = 69.7 and ln 2 / -ln 0.97 = 22.8 minutes
    words = paper_captions.feedback(reproduction)
    assert "by 1.010 in (21), so errors double in 70 min (unstable)" in words
    assert "by 0.970 in (22) and (26), so errors halve in 23 min (stable)" in words
    stable = replace(reproduction, error_growth={21: 0.99, 22: 0.97})
    assert "by 0.990 in (21), so errors halve in 69 min (stable)" in paper_captions.feedback(stable)
