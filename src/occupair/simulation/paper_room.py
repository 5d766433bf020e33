"""The paper's test bed: room, seats, ventilation schedule and sensor, each value with its source.

Values given in Jiang et al. 2016, Section V-A, are used as given. Others come from a standard or a
measurement, or have a stated reason.
"""

from occupair.simulation.multizone_air import AirFlows, Room
from occupair.simulation.sensor import Passing, Sensor
from occupair.ventilation_rates import ASHRAE_SPACES

WIDTH = 9.3  # [m] Jiang et al. 2016
LENGTH = 20.0  # [m] Jiang et al. 2016
AREA = WIDTH * LENGTH  # [m2]
HEIGHT = 2.7  # [m] not in the paper; 2.6 to 2.8 is typical under a suspended ceiling
DESKS = 24  # [seats] Jiang et al. 2016
OPEN_SEATS = 11  # [seats] Jiang et al. 2016
SEATS = DESKS + OPEN_SEATS
CORNER_SEATS = range(30, 35)  # the five open seats "in the corner", rarely used: Jiang et al. 2016

ZONES = 5  # [-] slices of 4 m: short enough for delays between the ends and the middle, which is one slice
SENSOR_ZONE = 2  # the middle one; in Jiang et al. 2016 the sensor is near the centre
DESKS_PER_ZONE = 6  # [seats] 24 desks in four slices, open seats in the fifth; our interpretation of the
# layout in the paper, which has no dimensions

VENTILATION_ON = 7 * 60 + 30  # [min after midnight] 7:30, every day; Jiang et al. 2016
VENTILATION_OFF = 22 * 60  # [min after midnight] 22:00, every day; Jiang et al. 2016

FRESH_PER_PERSON = ASHRAE_SPACES["office"].per_person  # [L/s] ASHRAE 62.1, offices: 2.5
FRESH_PER_AREA = ASHRAE_SPACES["office"].per_area  # [L/(s m2)] ASHRAE 62.1, offices: 0.3
SUPPLY_PER_AREA = 3.0  # [L/(s m2)] outdoor and recirculated air: low end of the usual 3 to 5 for office
# cooling, because chilled beams carry part of the load
SUPPLY = 3.6 * SUPPLY_PER_AREA * AREA  # [m3/h]
NIGHT_SUPPLY = 0.3  # [-] fraction of the supply, recirculated, with outdoor air off: the paper's VAV system
# is always on, and 30 % is a common minimum opening of a VAV box
SUPPLY_SHARE = (0.2, 0.2, 0.2, 0.2, 0.2)  # [-] by zone: uniform, as the paper does not state otherwise
LEAKAGE = 0.2  # [1/h] low end of 0.2 to 0.7 in eight office buildings, Grot and Persily 1986 (ASTM STP
# 904): two doors, and a small indoor-outdoor temperature difference in Singapore

# Turbulent diffusion increases with the air change rate. Cheng et al. 2011, Environ. Sci. Technol. 45,
# 4016-4022, measured 0.001 to 0.013 m2/s in two houses at less than 0.2 to more than 5 1/h; the linear
# relation between the ends of both ranges is ours.
SLOW_DIFFUSION = (0.2, 0.001)  # [1/h, m2/s]
FAST_DIFFUSION = (5.0, 0.013)  # [1/h, m2/s]

SENSOR = Sensor(
    lag=1.8,  # [min] between T63 of 87 s (rising) and 130 s (falling), data sheet of the Rotronic CCD-S: same
    # manufacturer and principle; we found no value for the CL11 itself
    noise=3.0,  # [ppm] one-minute means of calibrated NDIR sensors have errors of 1.7 to 4.3 ppm: Martin et
    # al. 2017, Atmos. Meas. Tech. 10, 2383-2395
    resolution=1.0,  # [ppm] Jiang et al. 2016
)

PASSING = Passing(
    per_person=0.15,  # [1/h] our judgement: people get up about once an hour, and one walk in seven passes
    # within arm's length of a given spot, about 1.5 m of the room's 9.3 m width
    per_crossing=0.05,  # [-] our judgement: two doors, and few paths from them to a seat pass the sensor
    strength=50.0,  # [ppm] 0.005 L/s exhaled for half a minute into 3 m3 of air. Size and duration of the
    # spikes are calibrated to the only published trace of those in the paper: in its Table I,
    # alpha = z_max / max|R y|, so raw CO2 reached max|R I| = 1 / 0.0012 = 833 ppm and max|R D| =
    # 1 / 0.005 = 200 ppm in 25 days. These three values give about 850 and 230 ppm (checked by a test)
    strength_spread=0.4,  # [-] from walking past (about 30 ppm) to standing and talking (about 90 ppm)
    clearing=2.0,  # [min] 2 m of air at 0.05 to 0.1 m/s, with partial return
)


def zone_of_seat(seat: int) -> int:
    """Return the zone of a seat: desks are in zones 1 to 4, open seats in zone 0.

    Examples
    --------
    >>> [zone_of_seat(seat) for seat in (0, 5, 6, 23, 24, 34)]
    [1, 1, 2, 4, 0, 0]
    """
    return 1 + seat // DESKS_PER_ZONE if seat < DESKS else 0


def paper_room() -> Room:
    """Return the office as a row of zones, with the values above.

    Examples
    --------
    >>> room = paper_room()
    >>> round(sum(room.volumes), 1), round(room.on.fresh, 1), room.off.fresh
    (502.2, 515.9, 0.0)
    """
    fresh = 3.6 * (FRESH_PER_PERSON * SEATS + FRESH_PER_AREA * AREA)  # 1 L/s is 3.6 m3/h
    return Room(
        volumes=(AREA * HEIGHT / ZONES,) * ZONES,
        supply_share=SUPPLY_SHARE,
        leakage=LEAKAGE,
        on=office_flows(fresh, design=fresh),
        off=AirFlows(0.0, NIGHT_SUPPLY * SUPPLY, exchange=_exchange(NIGHT_SUPPLY * SUPPLY)),
    )


def office_flows(fresh: float, *, design: float) -> AirFlows:
    """Return the air flows with ``fresh`` of ``design`` outdoor air [m3/h] and ventilation on.

    A unit of its own supplies the outdoor air. The room units recirculate what is left of the supply at the
    design flow, whatever the outdoor air.

    Examples
    --------
    >>> half = office_flows(300.0, design=600.0)
    >>> round(half.recirculated, 1), office_flows(600.0, design=600.0).exchange > half.exchange
    (1408.8, True)
    """
    recirculated = SUPPLY - design
    return AirFlows(fresh, recirculated, exchange=_exchange(fresh + recirculated))


def _exchange(supply: float) -> float:
    """Return the air exchange between neighbouring slices by turbulent diffusion [m3/h]."""
    (slow, least), (fast, most) = SLOW_DIFFUSION, FAST_DIFFUSION
    changes = supply / (AREA * HEIGHT) + LEAKAGE  # [1/h]
    diffusion = least + (most - least) * (changes - slow) / (fast - slow)  # [m2/s]
    return diffusion * 3600 * WIDTH * HEIGHT / (LENGTH / ZONES)
