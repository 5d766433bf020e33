"""Frame-by-frame analysis of one video: motion, person detection, and a snapshot of what moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.groundtruth.video.frames import Frame
from occupair.groundtruth.video.motion import FULL_IMAGE, BoundingBox, Motion, MotionDetector
from occupair.groundtruth.video.network_detector import NetworkDetector
from occupair.groundtruth.video.paths import Paths
from occupair.groundtruth.video.person_detector import CONFIDENT, Detection, PersonDetector, motion_score
from occupair.groundtruth.video.snapshots import Snapshot, take_snapshot

DETECTION_PERIOD = 0.4
"""Shortest time between two runs of the person detector [s]; it grows while nobody is found."""
_MAX_DETECTION_PERIOD = 3.2
_PATIENCE = 4  # failed detections before the period doubles
_QUIET = 1.5  # motion after a longer pause starts a new run [s]
_SCENE_CHANGE_RUN = 1.5  # scene changes closer together than this are counted as one run [s] ...
_MAX_SWITCHES = 3  # ... and in a run of this many are motion rather than a light switch
_SWITCH_SCORE = 0.06  # score of a switched light: somebody may have switched it
_IN_PLACE_SCORE = 0.08  # largest score of motion in place, and of soft shadows
MIN_SHARPNESS = 0.2
"""A region without a sharper change of brightness is a shadow or a light [1/px]."""
_MIN_FRAMES = 2  # consecutive frames with motion before the person detector runs
_MAX_REGIONS = 2  # moving regions searched per frame


@dataclass
class _MotionRun:
    """Uninterrupted motion: its duration, and how often the person detector failed in it."""

    last: float = -1e9
    frames: int = 0
    misses: int = 0
    next_detection: float = 0.0
    last_scene_change: float = -1e9
    scene_changes: int = 0  # in a row

    def state(self) -> dict[str, Any]:
        """Return the fields under the names used in checkpoints."""
        return {
            "last": self.last,
            "frames": self.frames,
            "misses": self.misses,
            "next_look": self.next_detection,
            "upheaval": self.last_scene_change,
            "upheavals": self.scene_changes,
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> _MotionRun:
        """Create a run from a ``state``."""
        names = ("last", "frames", "misses", "next_look", "upheaval", "upheavals")
        return cls(*(state[name] for name in names))


class FrameAnalyser:
    """Analyse the frames of one video in order, with the given network as person detector or with HOG."""

    def __init__(self, detector: Path | None = None) -> None:
        self._motion = MotionDetector()
        self._persons = PersonDetector() if detector is None else NetworkDetector(detector)
        self._paths, self._run = Paths(), _MotionRun()

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
        """Return the adapted state, for ``restore``."""
        numbers, arrays = self._motion.state()
        return {"gate": numbers, "run": self._run.state(), "paths": self._paths.state()}, arrays

    def restore(self, numbers: Mapping[str, Any], arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Continue from a ``state``."""
        self._motion.restore(numbers["gate"], arrays)
        self._run = _MotionRun.restore(numbers["run"])
        self._paths.restore(numbers["paths"])

    def analyse(self, frame: Frame, *, known_score: Callable[[float], float]) -> Snapshot | None:
        """Analyse the next frame; return a snapshot if something moves.

        Parameters
        ----------
        frame : Frame
            The next frame.
        known_score : callable
            Returns the score that the minutes at a given second have so far; above ``CONFIDENT`` the person
            detector does not run.
        """
        motion = self._motion.detect(frame)
        regions = self._update_run(frame.second, motion)
        if not regions:
            switched = motion.scene_change and frame.number > 1
            return take_snapshot(frame, _SWITCH_SCORE, [FULL_IMAGE]) if switched else None
        score, boxes = self._motion_score(frame.second, regions), list(regions)
        lasting = self._run.frames >= _MIN_FRAMES
        due = frame.second >= self._run.next_detection
        if lasting and due and known_score(frame.second) < CONFIDENT:
            detection = self._detect_person(frame, regions)
            if detection is not None:
                score, boxes = detection.score, [*boxes, detection.box]
        return take_snapshot(frame, score, boxes)

    def _update_run(self, second: float, motion: Motion) -> tuple[BoundingBox, ...]:
        """Track the duration of motion; repeated scene changes are motion of the full image."""
        run = self._run
        if motion.scene_change:
            recent = second - run.last_scene_change <= _SCENE_CHANGE_RUN
            run.scene_changes = run.scene_changes + 1 if recent else 1
            run.last_scene_change = second
        regions = motion.regions
        if motion.scene_change and run.scene_changes >= _MAX_SWITCHES:
            regions = (FULL_IMAGE,)
        if regions:
            if second - run.last > _QUIET:
                run.frames, run.misses, run.next_detection = 0, 0, second
            run.last, run.frames = second, run.frames + 1
        return regions

    def _motion_score(self, second: float, regions: Sequence[BoundingBox]) -> float:
        """Score of motion without a detected person; low unless something with an outline passes."""
        passing = self._paths.passing(second, regions)
        if regions[0] == FULL_IMAGE:
            passing = [FULL_IMAGE]
        outlined = [region for region in passing if region.sharpness >= MIN_SHARPNESS]
        if outlined:
            return motion_score(outlined, self._run.frames)
        return min(_IN_PLACE_SCORE, motion_score(regions, self._run.frames))

    def _detect_person(self, frame: Frame, regions: Sequence[BoundingBox]) -> Detection | None:
        """Run the person detector on the largest regions, less often while nobody is found."""
        run = self._run
        for region in regions[:_MAX_REGIONS]:
            detection = self._persons.detect(frame.image, region)
            if detection is not None:
                run.misses, run.next_detection = 0, frame.second + DETECTION_PERIOD
                return detection
        run.misses += 1
        period = min(_MAX_DETECTION_PERIOD, DETECTION_PERIOD * 2 ** (run.misses // _PATIENCE))
        run.next_detection = frame.second + period
        return None
