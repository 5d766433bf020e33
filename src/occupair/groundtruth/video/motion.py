"""Whether something moves that is as large as a person: what empty hours are passed over by.

Every frame that is looked at is shrunk to a small grey picture and compared with a background that follows
the light. Only where something moves does anybody look for people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.groundtruth.video.frames import Picture
from occupair.groundtruth.video.opencv import opencv

Grey = NDArray[np.float32]

WIDTH = 160
"""Of the small picture [px]; a person of a fifth of the height of a picture has some 40 pixels in it."""

FLOOR = 5.0
"""A change of fewer grey levels [of 255] is none, whatever the noise."""
NOISE = 3.0
"""A change must be so many times what a pixel changes by in three of four frames."""
SMALLEST = 0.002
"""Something that covers a smaller share of the picture is no person."""
UPHEAVAL = 0.45
"""If a larger share of the picture changes at once, it was the light (or the camera), and all is new."""

_FOLLOW = 20.0  # how soon the background follows slow changes [s]
_HOLD = 120.0  # the same where something is in front of it [s]
_SETTLED = 8.0  # what has changed and stays as it is for so long belongs to the background [s]
_NOISE_RATE = 0.1  # how fast the noise is learnt [grey levels a second]; five times as fast at first
_FIRST = 10.0  # how long that is [s]
_SMALL_MOVING = 4  # pixels that must have changed since the last frame, in something that moves


@dataclass(frozen=True)
class BoundingBox:
    """Something that moves: its box and area as shares of the picture."""

    left: float
    top: float
    width: float
    height: float
    area: float


WHOLE = BoundingBox(0.0, 0.0, 1.0, 1.0, 1.0)
"""The whole picture."""


@dataclass(frozen=True)
class Motion:
    """What moves in a frame, the largest first, and whether everything changed at once."""

    things: tuple[BoundingBox, ...] = ()
    upheaval: bool = False


class MotionDetector:
    """Compares each frame with the background and the frame before.

    The light may change by any factor and offset for the whole picture: both are fitted in every frame, on
    the pixels that fit. What changes in more than ``UPHEAVAL`` of the picture and is no such change starts
    the background anew. Noise is learnt for each pixel, as the change that three of four frames stay below,
    so that a flickering screen or the recorder's clock is soon passed over and people who pass are not.
    """

    def __init__(self) -> None:
        self._cv2: Any = opencv()
        self._seen = 0.0  # how long the camera has been watched [s]
        self._last = 0.0
        self._arrays: dict[str, Grey] = {}

    def state(self) -> tuple[dict[str, float], dict[str, Grey]]:
        """Give all that was learnt, for ``restore``."""
        return {"seen": self._seen, "last": self._last}, dict(self._arrays)

    def restore(self, numbers: Mapping[str, float], arrays: Mapping[str, Grey]) -> None:
        """Go on from what ``state`` gave."""
        self._seen, self._last = numbers["seen"], numbers["last"]
        self._arrays = {name: np.array(array) for name, array in arrays.items()}

    def look(self, second: float, picture: Picture) -> Motion:
        """Say what moves in a frame that was taken at ``second``."""
        small = self._small(picture)
        if not self._arrays:
            self._start(small)
            self._last = second
            return Motion(upheaval=True)
        passed, self._last = max(0.0, second - self._last), second
        self._seen += passed
        lit = relight(self._arrays["background"], small)
        change = small - lit
        limit = FLOOR + NOISE * self._arrays["noise"]
        changed = np.abs(change) > limit
        if changed.mean() > UPHEAVAL:
            self._start(small)
            return Motion(upheaval=True)
        moving = np.abs(change - self._arrays["change"]) > limit
        things = self._things(changed, moving)
        self._learn(small, lit, change, changed, moving, passed)
        return Motion(things)

    def _small(self, picture: Picture) -> Grey:
        cv2 = self._cv2
        height, width = picture.shape[:2]
        size = (
            self._arrays["background"].shape[::-1] if self._arrays else (WIDTH, round(WIDTH * height / width))
        )
        if width > 4 * WIDTH:  # the bulk is thrown away at once, without making it grey first
            picture = cv2.resize(picture, (4 * size[0], 4 * size[1]), interpolation=cv2.INTER_AREA)
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        shrunk = cv2.resize(grey, size, interpolation=cv2.INTER_AREA)
        small: Grey = shrunk.astype(np.float32)
        return small

    def _start(self, small: Grey) -> None:
        noise = self._arrays.get("noise")
        self._arrays = {
            "background": small,
            "change": np.zeros_like(small),
            "noise": np.ones_like(small) if noise is None else noise,
            "still": np.zeros_like(small),
        }

    def _things(self, changed: NDArray[np.bool_], moving: NDArray[np.bool_]) -> tuple[BoundingBox, ...]:
        """Join changed pixels to things and keep those that move and are large enough."""
        if int(changed.sum()) < SMALLEST * changed.size:
            return ()
        cv2 = self._cv2
        mask = cv2.morphologyEx(changed.astype(np.uint8), cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((7, 5), np.uint8))
        count, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
        movers = np.bincount(labels[moving], minlength=count)
        rows, columns = changed.shape
        things = [
            BoundingBox(x / columns, y / rows, w / columns, h / rows, area / changed.size)
            for k, (x, y, w, h, area) in enumerate(stats.tolist())
            if k and area >= SMALLEST * changed.size and movers[k] >= max(_SMALL_MOVING, 0.03 * area)
        ]
        return tuple(sorted(things, key=lambda thing: -thing.area))

    def _learn(
        self,
        small: Grey,
        lit: Grey,
        change: Grey,
        changed: NDArray[np.bool_],
        moving: NDArray[np.bool_],
        passed: float,
    ) -> None:
        """Let background and noise follow, slowly where something is in front."""
        arrays = self._arrays
        still: Grey = np.where(changed & ~moving, arrays["still"] + np.float32(passed), np.float32(0))
        follow, hold = (1 - np.exp(-passed / span) for span in (_FOLLOW, _HOLD))
        share: Grey = np.where(changed, np.float32(hold), np.float32(follow))
        share[still > _SETTLED] = 1.0
        rate = _NOISE_RATE * min(passed, 1.0) * (5 if self._seen < _FIRST else 1)
        up = np.abs(change) > arrays["noise"]
        step: Grey = np.where(up, np.float32(0.75 * rate), np.float32(-0.25 * rate))
        arrays["noise"] = np.maximum(arrays["noise"] + step, np.float32(0.2))
        arrays["background"] = lit + share * change
        arrays["change"], arrays["still"] = (1 - share) * change, still


def relight(background: Grey, small: Grey) -> Grey:
    """Show the background in the light of a picture: the factor and offset that fit most of its pixels.

    Examples
    --------
    >>> wall = np.array([[100, 120, 140, 160]], dtype=np.float32)
    >>> relight(wall, 0.5 * wall + 8).tolist()
    [[58.0, 68.0, 78.0, 88.0]]
    """
    step = 2 if background.size > 2000 else 1
    x, y = background[::step, ::step].ravel(), small[::step, ::step].ravel()
    factor, offset = 1.0, float(np.median(y - x))
    for _ in range(3):
        wrong = np.abs(y - factor * x - offset)
        fits = wrong <= max(3.0, 2.5 * float(np.median(wrong)))
        u, v = x[fits], y[fits]
        spread = float(u.var())
        factor = float(((u - u.mean()) * (v - v.mean())).mean()) / spread if spread > 4 else 1.0
        factor = min(max(factor, 0.2), 5.0)
        offset = float(v.mean()) - factor * float(u.mean())
    relit: Grey = np.float32(factor) * background + np.float32(offset)
    return relit
