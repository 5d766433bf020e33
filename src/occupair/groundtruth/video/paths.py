"""Paths of moving regions: whether something passes, rather than moves in place.

Somebody who passes moves both sides of the region, or its top and bottom, steadily: walking across moves
them in the same direction, walking towards the camera moves them apart. A door moves one side only, and a
screen, a plant or a curtain moves none of them for long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from occupair.groundtruth.video.motion import BoundingBox

MIN_SHIFT = 0.25
"""Shift of both sides of a region that passes, relative to its size."""
MIN_DISTANCE = 0.04
"""The same relative to the image; folds of a curtain move less."""
MIN_STEADINESS = 0.5
"""Distance from first to last position over the length of the path; less is motion to and fro."""
_REACH = (1.5, 0.25)  # horizontal and vertical gap to the next box, relative to the size of the larger box
_MAX_PAUSE = 1.5  # a path ends after this time without motion [s]

Sides = tuple[float, float, float, float]
"""Left, top, right and bottom as fractions of the image."""


@dataclass
class _Path:
    """A region over time: where it was first and last, and how far each side moved in total."""

    last_second: float
    first: Sides
    last: Sides
    travelled: list[float] = field(default_factory=lambda: [0.0] * 4)
    size: tuple[float, float] = (0.0, 0.0)  # largest width and height
    passes: bool = False

    def extend(self, second: float, sides: Sides) -> None:
        self.travelled = [
            total + abs(now - then) for total, now, then in zip(self.travelled, sides, self.last, strict=True)
        ]
        self.last_second, self.last = second, sides
        self.size = max(self.size[0], sides[2] - sides[0]), max(self.size[1], sides[3] - sides[1])
        self.passes = self.passes or self._shifts(0, 2) or self._shifts(1, 3)

    def _shifts(self, one: int, other: int) -> bool:
        """Whether two opposite sides both moved far enough, and steadily."""
        size = self.size[one]
        for side in (one, other):
            net = abs(self.last[side] - self.first[side])
            if net < max(MIN_DISTANCE, MIN_SHIFT * size) or net < MIN_STEADINESS * self.travelled[side]:
                return False
        return True


class Paths:
    """Follow the moving regions of a video from frame to frame."""

    def __init__(self) -> None:
        self._paths: list[_Path] = []

    def passing(self, second: float, regions: Sequence[BoundingBox]) -> list[BoundingBox]:
        """Follow the regions of the next frame, and return those on the path of something that passes."""
        earlier = [one for one in self._paths if second - one.last_second <= _MAX_PAUSE]
        found = []
        for region in regions:
            sides = _sides(region)
            near = [one for one in earlier if _is_near(one.last, sides)]
            path = min(near, key=lambda one: _distance(one.last, sides), default=None)
            if path is None:
                path = _Path(second, sides, sides)
                self._paths.append(path)
            else:
                earlier.remove(path)
            path.extend(second, sides)
            if path.passes:
                found.append(region)
        self._paths = [one for one in self._paths if second - one.last_second <= _MAX_PAUSE]
        return found

    def state(self) -> list[dict[str, Any]]:
        """Return the current paths, for ``restore``."""
        return [vars(one) for one in self._paths]

    def restore(self, state: Sequence[Mapping[str, Any]]) -> None:
        """Continue from a ``state``."""
        self._paths = [
            _Path(
                one["last_second"],
                tuple(one["first"]),
                tuple(one["last"]),
                list(one["travelled"]),
                tuple(one["size"]),
                one["passes"],
            )
            for one in state
        ]


def _sides(region: BoundingBox) -> Sides:
    return region.left, region.top, region.left + region.width, region.top + region.height


def _is_near(one: Sides, other: Sides) -> bool:
    """Whether two boxes of consecutive frames may be the same thing; quick people leave a gap."""
    for axis, reach in enumerate(_REACH):
        size = max(box[axis + 2] - box[axis] for box in (one, other))
        if max(one[axis], other[axis]) - min(one[axis + 2], other[axis + 2]) > reach * size:
            return False
    return True


def _distance(one: Sides, other: Sides) -> float:
    return sum(abs(now - then) for now, then in zip(one, other, strict=True))
