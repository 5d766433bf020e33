"""Choice of the settings of CO2 control in each zone."""

from dataclasses import replace

from occupair.savings.energyplus.building_outcome import AirTotals, BuildingOutcome
from occupair.savings.energyplus.building_period import BuildingStudy
from occupair.savings.energyplus.zone_training import co2_candidates, tuned_control

NOTHING = AirTotals(*[0.0] * 12)


def outcome(*zones):
    """Return an outcome with outdoor air [m3] and person-hours below the flow, of 100, in each zone."""
    totals = [replace(NOTHING, outdoor_air=air, below_flow=below, person_hours=100.0) for air, below in zones]
    return BuildingOutcome(0.0, 0.0, 0.0, 0.0, tuple(totals))


def test_each_zone_gets_the_least_air_within_the_target():
    candidates = co2_candidates(BuildingStudy())[:3]
    outcomes = [outcome((50, 9), (90, 1)), outcome((60, 5), (80, 2)), outcome((70, 4), (60, 30))]
    tuned = tuned_control(candidates, outcomes, target=outcome((65, 5), (85, 3)))
    assert tuned.policies == [candidates[1].policies[0], candidates[1].policies[1]]
    strict = tuned_control(candidates, outcomes, target=outcome((65, 4.5), (85, 0)))
    assert strict.policies == [candidates[2].policies[0], candidates[0].policies[1]]


def test_candidates_have_the_flows_of_their_zone():
    for zones in co2_candidates(BuildingStudy(standard="EN 16798-1")):
        core, east = zones.policies[0], zones.policies[2]
        # 7 L/s per person and 0.7 L/s per m2: 10 people on 149.66 m2, 5 people on 67.30 m2
        assert (round(core.lowest, 1), round(core.highest, 1)) == (104.8, 174.8)
        assert (round(east.lowest, 1), round(east.highest, 1)) == (47.1, 82.1)
        assert (core.begin, core.end) == (east.begin, east.end)
