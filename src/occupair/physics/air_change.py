"""Air change rate of a room as a function of its ventilation signal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

N_PARAMETERS = 4
"""Number of parameters: logarithms of leakage, ventilation, exponent and scale."""


@dataclass(frozen=True)
class AirChange:
    r"""One or many sets of parameters.

    .. math:: k(v) = k_0 + k_1 v^p

    Parameters
    ----------
    logarithms : array of shape (P, 4)
        Logarithms of the air change rate without ventilation k0 [1/h], that of full ventilation k1 [1/h], the
        exponent p, and the scale: CO2 per person relative to what volume and generation say.
    """

    logarithms: Array

    @property
    def scale(self) -> Array:
        """Scale of CO2 per person, shape (P, 1)."""
        return np.exp(self.logarithms[:, 3:4])

    def at(self, ventilation: Array) -> Array:
        """Return the air change rates at ventilation values, shape (P, n_values) [1/h].

        Examples
        --------
        >>> AirChange(np.log([[0.2, 2.0, 0.5, 1.0]])).at(np.array([0.0, 0.25, 1.0])).round(6).tolist()
        [[0.2, 1.2, 2.2]]
        """
        leakage, full, exponent = (np.exp(self.logarithms[:, k : k + 1]) for k in range(3))
        return leakage + full * np.asarray(ventilation)[np.newaxis] ** exponent
