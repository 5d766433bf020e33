"""One camera, frame by frame: what moves, whether it is a person, and a shot of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.groundtruth.video.frames import Frame
from occupair.groundtruth.video.motion import WHOLE, BoundingBox, Motion, MotionDetector
from occupair.groundtruth.video.person_detector import SURE, Detection, PersonDetector, motion_score
from occupair.groundtruth.video.snapshots import Snapshot, take_snapshot

PAUSE = 0.4
"""People are looked for at most this often [s]; the longer in vain, the less often."""
_LONGEST_PAUSE = 3.2
_PATIENCE = 4  # looks in vain before the pause doubles
_QUIET = 1.5  # motion that comes after so long a pause is something new [s]
_AGAIN = 1.5  # all that changes once more within so long [s] ...
_OFTEN = 3  # ... and so often is no switch of a light
_SWITCH = 0.06  # score of a light that is switched: somebody may have done it
_LASTS = 2  # frames in a row in which something must move before anybody looks what it is
_THINGS = 2  # of what moves in a frame, so many are looked at


@dataclass
class _Run:
    """Motion that goes on: since when, and how often people were looked for in vain."""

    last: float = -1e9
    frames: int = 0
    misses: int = 0
    next_look: float = 0.0
    upheaval: float = -1e9  # when all changed last
    upheavals: int = 0  # how often in a row


class FrameAnalyser:
    """Looks at the frames of one video in order."""

    def __init__(self) -> None:
        self._gate, self._finder, self._run = MotionDetector(), PersonDetector(), _Run()

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
        """Give all that was learnt, for ``restore``."""
        numbers, arrays = self._gate.state()
        return {"gate": numbers, "run": asdict(self._run)}, arrays

    def restore(self, numbers: Mapping[str, Any], arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Go on from what ``state`` gave."""
        self._gate.restore(numbers["gate"], arrays)
        self._run = _Run(**numbers["run"])

    def look(self, frame: Frame, *, known: Callable[[float], float]) -> Snapshot | None:
        """Look at a frame; where nothing moves, None.

        Parameters
        ----------
        frame : Frame
            The next one.
        known : callable
            Gives the score that the minutes of a second have already; where it is sure, nobody looks for
            people again.
        """
        motion = self._gate.look(frame.second, frame.picture)
        things = self._note(frame.second, motion)
        if not things:
            switched = motion.upheaval and frame.number > 1
            return take_snapshot(frame, _SWITCH, [WHOLE]) if switched else None
        score, boxes = motion_score(things, self._run.frames), list(things)
        lasts = self._run.frames >= _LASTS
        if lasts and frame.second >= self._run.next_look and known(frame.second) < SURE:
            found = self._find(frame, things)
            if found is not None:
                score, boxes = found.score, [*boxes, found.box]
        return take_snapshot(frame, score, boxes)

    def _note(self, second: float, motion: Motion) -> tuple[BoundingBox, ...]:
        """Keep count of how long motion goes on; all that changes again and again is motion too."""
        run = self._run
        if motion.upheaval:
            run.upheavals = run.upheavals + 1 if second - run.upheaval <= _AGAIN else 1
            run.upheaval = second
        things = motion.things
        if motion.upheaval and run.upheavals >= _OFTEN:
            things = (WHOLE,)
        if things:
            if second - run.last > _QUIET:
                run.frames, run.misses, run.next_look = 0, 0, second
            run.last, run.frames = second, run.frames + 1
        return things

    def _find(self, frame: Frame, things: Sequence[BoundingBox]) -> Detection | None:
        """Look for a person around the largest things; the longer in vain, the less often."""
        run = self._run
        for thing in things[:_THINGS]:
            found = self._finder.find(frame.picture, thing)
            if found is not None:
                run.misses, run.next_look = 0, frame.second + PAUSE
                return found
        run.misses += 1
        run.next_look = frame.second + min(_LONGEST_PAUSE, PAUSE * 2 ** (run.misses // _PATIENCE))
        return None
