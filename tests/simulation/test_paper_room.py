import pytest

from occupair.simulation import paper_room as bed


def test_volume_is_floor_area_times_height():
    assert sum(bed.paper_room().volumes) == pytest.approx(9.3 * 20 * 2.7)


def test_outdoor_air_is_ashrae_62_1_for_35_seats():
    # 35 * 2.5 + 186 * 0.3 = 87.5 + 55.8 = 143.3 L/s = 515.88 m3/h
    room = bed.paper_room()
    assert room.on.fresh == pytest.approx(515.88)
    assert room.off.fresh == 0


def test_supply_is_outdoor_and_recirculated_air():
    # 186 * 3 = 558 L/s = 2008.8 m3/h by day, 30 % of it by night
    room = bed.paper_room()
    assert room.on.fresh + room.on.recirculated == pytest.approx(2008.8)
    assert room.off.recirculated == pytest.approx(602.64)


def test_zones_exchange_air_by_turbulent_diffusion():
    # on: 2008.8 / 502.2 + 0.2 = 4.2 1/h gives 0.001 + 0.012 * 4.0 / 4.8 = 0.011 m2/s, over 25.11 m2 and 4 m
    # 0.011 * 3600 * 25.11 / 4 = 248.6 m3/h; off: 1.4 1/h gives 0.004 m2/s, 90.4 m3/h
    room = bed.paper_room()
    assert room.on.exchange == pytest.approx(248.589)
    assert room.off.exchange == pytest.approx(90.396)


def test_each_desk_zone_has_six_desks():
    zones = [bed.zone_of_seat(seat) for seat in range(35)]
    assert [zones.count(zone) for zone in range(5)] == [11, 6, 6, 6, 6]


def test_sensor_is_in_the_middle_zone():
    assert bed.SENSOR_ZONE == (bed.ZONES - 1) / 2
    assert bed.SENSOR.resolution == 1
