"""Motion detection: find moving regions of at least person size, and skip frames without motion.

Every analysed frame is reduced to a small greyscale image and compared with a background that adapts to the
light. The person detector only runs where something moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.groundtruth.video.frames import Frame, Grey
from occupair.groundtruth.video.opencv import opencv

WIDTH = 160
"""Width of the small image [px]; a person of a fifth of the image height covers about 40 of its pixels."""

MIN_CHANGE = 5.0
"""Smaller changes are ignored whatever the noise [grey levels of 255]."""
NOISE_FACTOR = 3.0
"""A change must exceed this multiple of the 75th percentile of a pixel's changes."""
MIN_AREA = 0.002
"""Smaller regions are not people [fraction of the image]."""
SCENE_CHANGE = 0.45
"""If a larger fraction of the image changes at once, the light or the camera did: restart the background."""

_ADAPT = 20.0  # time constant of the background [s]
_ADAPT_COVERED = 120.0  # the same where something is in front of it [s]
_SETTLED = 8.0  # a change that stays still for so long becomes part of the background [s]
_NOISE_RATE = 0.1  # adaptation of the noise level [grey levels per second]; five times as fast at first
_WARM_UP = 10.0  # duration of the fast adaptation [s]
_MIN_MOVING_PIXELS = 4  # pixels of a moving region that must have changed since the previous frame


@dataclass(frozen=True)
class BoundingBox:
    """A region of the image: position, size and area as fractions of the image."""

    left: float
    top: float
    width: float
    height: float
    area: float
    sharpness: float = 1.0  # steepest change of brightness over the largest [1/px of the small image]


FULL_IMAGE = BoundingBox(0.0, 0.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Motion:
    """Moving regions of a frame, largest first, and whether the entire scene changed."""

    regions: tuple[BoundingBox, ...] = ()
    scene_change: bool = False


class MotionDetector:
    """Compare each frame with the background and with the previous frame.

    The light may change by a common gain and offset, which are fitted to the unchanged pixels of every frame.
    Any other change of more than ``SCENE_CHANGE`` of the image restarts the background. The noise level of
    each pixel is the change that 75 % of the frames stay below; a flickering screen or the recorder's clock
    is soon ignored, people passing are not.
    """

    def __init__(self) -> None:
        self._cv2: Any = opencv()
        self._watched = 0.0  # total time watched [s]
        self._last = 0.0
        self._arrays: dict[str, Grey] = {}

    def state(self) -> tuple[dict[str, float], dict[str, Grey]]:
        """Return the adapted state, for ``restore``."""
        return {"seen": self._watched, "last": self._last}, dict(self._arrays)

    def restore(self, numbers: Mapping[str, float], arrays: Mapping[str, Grey]) -> None:
        """Continue from a ``state``."""
        self._watched, self._last = numbers["seen"], numbers["last"]
        self._arrays = {name: np.array(array) for name, array in arrays.items()}

    def detect(self, frame: Frame) -> Motion:
        """Detect motion in the next frame."""
        second, small = frame.second, self._reduce(frame)
        if not self._arrays:
            self._restart(small)
            self._last = second
            return Motion(scene_change=True)
        elapsed, self._last = max(0.0, second - self._last), second
        self._watched += elapsed
        lit = match_light(self._arrays["background"], small)
        change = small - lit
        threshold = MIN_CHANGE + NOISE_FACTOR * self._arrays["noise"]
        changed = self._beyond_neighbours(small, lit) > threshold
        if changed.mean() > SCENE_CHANGE:
            self._restart(small)
            return Motion(scene_change=True)
        moving = np.abs(change - self._arrays["change"]) > threshold
        regions = self._regions(change, changed, moving)
        self._adapt(lit, change, changed, moving, elapsed)
        return Motion(regions)

    def _reduce(self, frame: Frame) -> Grey:
        if self._arrays:
            height, width = self._arrays["background"].shape
            return frame.grey(width, height)
        return frame.grey(WIDTH, round(WIDTH * frame.aspect_ratio))

    def _restart(self, small: Grey) -> None:
        noise = self._arrays.get("noise")
        self._arrays = {
            "background": small,
            "change": np.zeros_like(small),
            "noise": np.ones_like(small) if noise is None else noise,
            "still": np.zeros_like(small),
        }

    def _beyond_neighbours(self, small: Grey, lit: Grey) -> Grey:
        """How far each pixel is outside the range of the background around it: 0 if the camera trembles."""
        kernel = np.ones((3, 3), np.uint8)
        above = small - self._cv2.dilate(lit, kernel)
        below = self._cv2.erode(lit, kernel) - small
        beyond: Grey = np.maximum(above, below)
        return beyond

    def _regions(
        self, change: Grey, changed: NDArray[np.bool_], moving: NDArray[np.bool_]
    ) -> tuple[BoundingBox, ...]:
        """Connect changed pixels to regions; return those that move and are large enough."""
        if int(changed.sum()) < MIN_AREA * changed.size:
            return ()
        cv2 = self._cv2
        mask = cv2.morphologyEx(changed.astype(np.uint8), cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((7, 5), np.uint8))
        count, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
        moving_pixels = np.bincount(labels[moving], minlength=count)
        height, width = changed.shape
        steepness = np.hypot(*np.gradient(change))
        regions = [
            BoundingBox(
                x / width,
                y / height,
                w / width,
                h / height,
                area / changed.size,
                _sharpness(change, steepness, np.s_[max(0, y - 1) : y + h + 1, max(0, x - 1) : x + w + 1]),
            )
            for k, (x, y, w, h, area) in enumerate(stats.tolist())
            if k
            and area >= MIN_AREA * changed.size
            and moving_pixels[k] >= max(_MIN_MOVING_PIXELS, 0.03 * area)
        ]
        return tuple(sorted(regions, key=lambda region: -region.area))

    def _adapt(
        self,
        lit: Grey,
        change: Grey,
        changed: NDArray[np.bool_],
        moving: NDArray[np.bool_],
        elapsed: float,
    ) -> None:
        """Adapt background and noise level, slowly where something is in front of the background."""
        arrays = self._arrays
        still: Grey = np.where(changed & ~moving, arrays["still"] + np.float32(elapsed), np.float32(0))
        uncovered, covered = (1 - np.exp(-elapsed / span) for span in (_ADAPT, _ADAPT_COVERED))
        rate: Grey = np.where(changed, np.float32(covered), np.float32(uncovered))
        rate[still > _SETTLED] = 1.0
        noise_rate = _NOISE_RATE * min(elapsed, 1.0) * (5 if self._watched < _WARM_UP else 1)
        above = np.abs(change) > arrays["noise"]
        step: Grey = np.where(above, np.float32(0.75 * noise_rate), np.float32(-0.25 * noise_rate))
        arrays["noise"] = np.maximum(arrays["noise"] + step, np.float32(0.2))
        arrays["background"] = lit + rate * change
        arrays["change"], arrays["still"] = (1 - rate) * change, still


def _sharpness(change: Grey, steepness: Grey, box: tuple[slice, slice]) -> float:
    """Return how sharp a change is: about 0.5 for the outline of a person, less for a soft shadow [1/px]."""
    return float(np.percentile(steepness[box], 95) / max(1.0, np.percentile(np.abs(change[box]), 95)))


def match_light(background: Grey, small: Grey) -> Grey:
    """Return the background in the light of an image: the gain and offset that fit most of its pixels.

    Examples
    --------
    >>> wall = np.array([[100, 120, 140, 160]], dtype=np.float32)
    >>> match_light(wall, 0.5 * wall + 8).tolist()
    [[58.0, 68.0, 78.0, 88.0]]
    """
    step = 2 if background.size > 2000 else 1
    x, y = background[::step, ::step].ravel(), small[::step, ::step].ravel()
    gain, offset = 1.0, float(np.median(y - x))
    for _ in range(3):
        residual = np.abs(y - gain * x - offset)
        inliers = residual <= max(3.0, 2.5 * float(np.median(residual)))
        u, v = x[inliers], y[inliers]
        spread = float(u.var())
        gain = float(((u - u.mean()) * (v - v.mean())).mean()) / spread if spread > 4 else 1.0
        gain = min(max(gain, 0.2), 5.0)
        offset = float(v.mean()) - gain * float(u.mean())
    matched: Grey = np.float32(gain) * background + np.float32(offset)
    return matched
