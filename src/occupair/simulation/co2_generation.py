"""CO2 generation of a person, from body mass and activity.

Persily and de Jonge 2017, "Carbon dioxide generation rates for building occupants", Indoor Air 27,
868-879. Their tables are for the United States population; their equation applies to any body mass.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESPIRATORY_QUOTIENT = 0.85  # [-] CO2 out per O2 in; Persily and de Jonge 2017, for a mixed diet
ROOM_TEMPERATURE = 297.0  # [K] 24 degC, a typical setpoint of air-conditioned offices in Singapore
AIR_PRESSURE = 101.3  # [kPa] sea level
LITRES_PER_ENERGY = 0.000211  # [(L/s) (day/MJ) (kPa/K)] Persily and de Jonge 2017, their rate equation

SITTING_QUIETLY = 1.3  # [met] desk work, typing, reading; Ainsworth et al. 2011, Compendium
SITTING_BUSY = 1.5  # [met] light effort while seated, talking, handling things; Ainsworth et al. 2011
WALKING_SLOWLY = 2.0  # [met] strolling on the level; Ainsworth et al. 2011

# BMR = slope * mass + intercept for ages 18 to 30; Schofield 1985, as used by Persily and de Jonge 2017
MALE_BMR = (0.063, 2.896)  # [MJ/(day kg), MJ/day]
FEMALE_BMR = (0.062, 2.036)  # [MJ/(day kg), MJ/day]


def basal_metabolic_rate(mass: float, *, male: bool) -> float:
    """Return the basal metabolic rate [MJ/day] of a person aged 18 to 30, from body mass [kg].

    Schofield 1985, as used by Persily and de Jonge 2017.

    Examples
    --------
    >>> round(basal_metabolic_rate(70.0, male=True), 3)
    7.306
    """
    slope, intercept = MALE_BMR if male else FEMALE_BMR
    return slope * mass + intercept


def co2_generation(bmr: ArrayLike, met: ArrayLike) -> NDArray[np.float64]:
    """Return the CO2 generation rate [L/s] at room temperature and pressure.

    Persily and de Jonge 2017: ``RQ * BMR * M * (T / P) * 0.000211``.

    Parameters
    ----------
    bmr
        Basal metabolic rate [MJ/day].
    met
        Activity as a multiple of the basal rate [met].

    Examples
    --------
    A man of 70 kg doing desk work:

    >>> float(co2_generation(7.306, 1.3).round(5))
    0.00499
    """
    per_met = RESPIRATORY_QUOTIENT * LITRES_PER_ENERGY * ROOM_TEMPERATURE / AIR_PRESSURE
    return np.asarray(np.multiply(bmr, met) * per_met, dtype=float)
