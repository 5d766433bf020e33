"""Properties of BACnet objects to quantities of a room; numbers of units and states as in the standard."""

import math

import pytest
from bacpypes3.primitivedata import BitString, CharacterString, Enumerated, Null, Real, Unsigned

from occupair.errors import InputError
from occupair.live.bacnet.point_values import co2_increment, point_value
from occupair.live.config import BacnetPoint, VentilationPoint

CELSIUS, FAHRENHEIT, KELVIN, KILOWATTS, NO_UNITS, PPM, PPB, PERCENT = 62, 64, 63, 48, 95, 96, 97, 98
RH, LUX, RPM = 29, 37, 104


def read(quantity, value, units=None, *, kind="analog-input", full=None, **more):
    given = {"bacnet": "10.0.2.7", "object": f"{kind},1"}
    point = BacnetPoint(**given) if full is None else VentilationPoint(**given, full=full)
    properties = {"present-value": value, **more}
    return point_value(quantity, point, properties if units is None else {**properties, "units": units})


@pytest.mark.parametrize(
    ("quantity", "value", "units", "expected"),
    [
        ("co2", Real(612.5), Enumerated(PPM), 612.5),
        ("co2", Real(0.0625), PERCENT, 625.0),
        ("co2", Real(5.0), PERCENT, 50_000.0),
        ("co2", Unsigned(612_000), PPB, 612.0),
        ("co2", -1.0, PPM, -1.0),  # a failed read, which the room reports
        ("temperature", 21.5, CELSIUS, 21.5),
        ("temperature", 68.0, FAHRENHEIT, 20.0),
        ("temperature", 293.15, KELVIN, 20.0),
        ("temperature", 21.5, NO_UNITS, 21.5),
        ("humidity", 41.5, RH, 41.5),
        ("light", 300.0, LUX, 300.0),
        ("power", 0.25, KILOWATTS, 250.0),
        ("motion", Enumerated(1), None, 1.0),
    ],
)
def test_units_are_converted(quantity, value, units, expected):
    assert read(quantity, value, units) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("value", "units", "kind", "full", "expected"),
    [
        (40.0, PERCENT, "analog-output", 1.0, 0.4),
        (40.0, PERCENT, "analog-output", 80.0, 0.5),
        (0.4, NO_UNITS, "analog-value", 1.0, 0.4),
        (750.0, RPM, "analog-input", 1500.0, 0.5),
        (100.4, PERCENT, "analog-output", 1.0, 1.0),  # noise around full
        (Enumerated(1), None, "binary-output", 1.0, 1.0),
        (Enumerated(0), None, "binary-value", 1.0, 0.0),
        (Unsigned(1), None, "multi-state-value", 4.0, 0.0),
        (Unsigned(3), None, "multi-state-value", 5.0, 0.5),
        (Unsigned(2), None, "multi-state-input", 1.0, 1.0),
    ],
)
def test_ventilation_is_a_fraction(value, units, kind, full, expected):
    assert read("ventilation", value, units, kind=kind, full=full) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("value", "more", "message"),
    [
        (None, {}, "has no present value: check the object in the settings"),
        (Null(()), {}, "has no present value: check the object in the settings"),
        ("high", {}, "must be a number or a state"),
        (math.nan, {}, "is nan"),
        (math.inf, {}, "is inf"),
        (2e6, {}, "CO2 must be from 0 to 1000000 ppm, got 2e+06"),
        (600.0, {"units": CELSIUS}, "must be in ppm, got degrees-celsius: correct the unit in the device"),
        (600.0, {"units": NO_UNITS}, "must be in ppm, got no unit: correct the unit in the device"),
        (42.0, {"units": PERCENT}, "is 42 %, which looks like a signal, not a CO2 concentration"),
        (600.0, {"units": CharacterString("ppm")}, "has invalid units, got 'ppm': correct the device"),
        (600.0, {"units": [PPM, PPM]}, "has invalid units, got '[96, 96]': correct the device"),
        (600.0, {"units": -1}, "has invalid units, got '-1': correct the device"),
        (600.0, {"reliability": "good"}, "has invalid reliability, got 'good': correct the device"),
        (600.0, {"status-flags": BitString([0, 1, 0, 0])}, "is faulty"),
        (600.0, {"reliability": Enumerated(1)}, r"is faulty (no-sensor)"),
        (600.0, {"status-flags": BitString([0, 0, 0, 1])}, "is out of service"),
        (600.0, {"out-of-service": True}, "is out of service"),
    ],
)
def test_value_that_is_no_reading(value, more, message):
    with pytest.raises(InputError) as error:
        read("co2", value, **{"units": PPM, **more} if "units" not in more else more)
    assert str(error.value) == message


@pytest.mark.parametrize("flags", [[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], []])
def test_alarm_and_override_are_readings(flags):
    assert (
        read("co2", 600.0, PPM, **{"status-flags": BitString(flags), "reliability": Enumerated(0)}) == 600.0
    )


def test_values_out_of_range_are_no_readings():
    with pytest.raises(InputError, match=r"^ventilation must be from 0 to 1 .*, got 12: check 'full'$"):
        read("ventilation", 12.0, NO_UNITS, full=1.0)
    with pytest.raises(InputError, match=r"^temperature must be from -40 to 85 °C, got 850$"):
        read("temperature", 850.0, CELSIUS)


def test_increment_of_notifications_in_ppm():
    assert co2_increment({"cov-increment": 0.005, "units": PERCENT}) == pytest.approx(50.0)
    assert co2_increment({"cov-increment": 10.0, "units": PPM}) == 10.0
    assert co2_increment({"units": PPM}) is None
    assert co2_increment({"cov-increment": 10.0, "units": "ppm"}) is None
