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


def test_the_headline_has_the_live_error_and_the_size_of_the_office(reproduction):
    words = paper_captions.headline(with_rmse(reproduction, eq26=2.13))
    assert "2.1 people off" in words
    assert "up to 28" in words


@pytest.mark.parametrize(
    ("live", "elm", "verdict"),
    [
        (2.0, 6.0, "3.0 times smaller"),
        (2.0, 2.1, "about the same"),
        (6.0, 2.0, "3.0 times larger"),
        (0, 1, "nil"),
    ],
)
def test_the_summary_compares_with_the_standard_elm_either_way(reproduction, live, elm, verdict):
    assert verdict in paper_captions.summary(with_rmse(reproduction, eq26=live, eq4=elm))


def test_the_order_is_said_to_be_the_papers_only_when_it_is(reproduction):
    same = with_rmse(reproduction, eq22=1, eq26=2, eq21=3, eq4=4)
    other = with_rmse(reproduction, eq22=1, eq26=2, eq21=5, eq4=4)
    assert (
        paper_captions.order_against_paper(same)
        == "By RMSE the order is the paper's, best first: (22), (26), (21), (4)."
    )
    assert paper_captions.order_against_paper(other) == (
        "By RMSE the order is (22), (26), (4), (21), best first; the paper's is (22), (26), (21), (4)."
    )


def test_the_rmse_caption_names_the_widest_difference(reproduction):
    words = paper_captions.rmse_caption(with_rmse(reproduction, eq22=1.8, eq26=2.1, eq21=3.2, eq4=0.5))
    assert "differ most for (4) standard ELM: 0.5 people here, 6.0 people in the paper" in words


def test_drift_is_claimed_only_when_it_happens(reproduction):
    assert "drifts: 6.0 people off, 3.0 times (26)" in paper_captions.days_caption(
        with_rmse(reproduction, eq24=6, eq26=2)
    )
    assert "on these days it does not" in paper_captions.days_caption(with_rmse(reproduction, eq24=2, eq26=2))


def test_the_days_caption_names_the_closest(reproduction):
    words = paper_captions.days_caption(with_rmse(reproduction, eq4=0.1))
    assert "Closest is (4) standard ELM, 0.1 people off" in words


def test_what_is_seen_in_an_empty_room_is_the_mean_there(reproduction):
    estimates = reproduction.estimates.copy()
    estimates.loc[reproduction.truth == 0, [4, 26]] = [3.0, 0.5]
    words = paper_captions.days_caption(replace(reproduction, estimates=estimates))
    assert "standard ELM sees 3.0 people on average and the live estimator 0.5 people" in words


def test_a_room_that_is_never_empty_is_said_to_be(reproduction):
    assert "never empty" in paper_captions.days_caption(replace(reproduction, truth=reproduction.truth + 1))


def test_the_tolerance_caption_reads_the_table(reproduction):
    table = reproduction.tolerance_accuracy.copy()
    table.loc[0] = [0.1, 0.2, 0.3, 0.4, 0.456]
    table.loc[3] = [0.5, 0.6, 0.89, 0.7, 0.8]
    words = paper_captions.tolerance_caption(replace(reproduction, tolerance_accuracy=table))
    assert "at best 45.6 %, by (26) FS-ELM live, three steps" in words
    assert "at best 89.0 %, by (22)" in words
    assert "live 80.0 %, standard ELM 50.0 %" in words
    assert "89 % within 3 and 94 % within 4" in words


def test_the_co2_caption_measures_the_gap_at_the_end_and_an_hour_before(reproduction):
    day = reproduction.co2_day.copy()
    day["locally_smoothed_680"] = (day["globally_smoothed"] + 2.0).where(day["locally_smoothed_680"].notna())
    day.iloc[679, day.columns.get_loc("locally_smoothed_680")] += 5.0
    words = paper_captions.co2_caption(replace(reproduction, co2_day=day))
    assert "at 11:19, after 680 minutes, it is 7.0 ppm from hindsight (2.0 ppm an hour earlier)" in words


def test_the_saturation_caption_says_so_when_scaling_does_not_help(reproduction):
    swapped = {4: reproduction.saturation[21], 21: reproduction.saturation[4]}
    assert "keeps more of the neurons" in paper_captions.saturation_caption(reproduction)
    assert "does not help" in paper_captions.saturation_caption(replace(reproduction, saturation=swapped))


def test_being_cut_off_is_said_of_whom_it_happens_to(reproduction):
    estimates = reproduction.estimates.clip(upper=20)
    assert "cut off" not in paper_captions.days_caption(replace(reproduction, estimates=estimates))
    estimates.iloc[:1800, estimates.columns.get_loc(21)] = 28.0  # a quarter of the 7200 readings
    truth = reproduction.truth.clip(upper=20)
    words = paper_captions.days_caption(replace(reproduction, estimates=estimates, truth=truth))
    assert "cut off at the 28 people seen in training" in words
    assert words.endswith("as a share of all readings: (21) for 25.0 %.")


def test_feedback_says_what_the_growth_means(reproduction):
    # ln 2 / ln 1.01 = 69.7 and ln 2 / -ln 0.97 = 22.8 minutes
    words = paper_captions.feedback(reproduction)
    assert "by 1.010 in (21), which therefore runs away: an error doubles in 70 minutes" in words
    assert "by 0.970 in (22) and (26), which forget: an error halves in 23 minutes" in words
    stable = replace(reproduction, error_growth={21: 0.99, 22: 0.97})
    assert (
        "by 0.990 in (21), which therefore forgets: an error halves in 69 minutes"
        in paper_captions.feedback(stable)
    )
