"""Random generators per quantity and day, so that a longer simulation extends a shorter one."""

import numpy as np

_STREAMS = {
    "people": 0,
    "presence": 1,
    "activity": 2,
    "outdoors": 3,
    "passing": 4,
    "noise": 5,
    "vacations": 6,
}


def generator(seed: int, stream: str, *parts: int) -> np.random.Generator:
    """Return the random generator of a stream, for integers such as the day and the seat.

    Examples
    --------
    >>> a, b = generator(0, "noise", 3), generator(0, "noise", 3)
    >>> bool(a.random() == b.random())
    True
    """
    return np.random.default_rng([seed, _STREAMS[stream], *parts])
