"""Scan of one video, from its start or from the checkpoint of an interrupted scan."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from occupair.errors import InputError
from occupair.groundtruth.events import Recording
from occupair.groundtruth.video.contact_sheets import draw_sheet, write_sheet
from occupair.groundtruth.video.frame_analysis import FrameAnalyser
from occupair.groundtruth.video.frames import FrameReader
from occupair.groundtruth.video.scan_store import (
    Checkpoint,
    ScanRecord,
    ScanSettings,
    ScanStore,
    ScoredMinute,
)
from occupair.groundtruth.video.snapshots import SnapshotsByMinute
from occupair.groundtruth.video.video_files import Video, span_text

_LISTED_SPANS = 5
CHECKPOINT_PERIOD = 1.0
"""Shortest time between two checkpoints [s]; at most this much work is repeated after an interruption."""


@dataclass
class ScanJob:
    """A video to scan, or already scanned if it has a ``record``."""

    video: Video
    key: str
    store: ScanStore
    settings: ScanSettings
    record: ScanRecord | None = None
    already_scanned: float = 0.0  # length scanned in earlier runs [s]
    scanned: float = 0.0  # length scanned so far [s]
    threads: int = 1  # of the decoder
    detector: Path | None = None  # network for person detection
    stop: Event = field(default_factory=Event)  # set to interrupt the scan

    def run(self) -> None:
        """Scan the video as far as it can be read."""
        try:
            reader = FrameReader(self.video.path, rate=self.settings.rate, threads=self.threads)
        except InputError as error:
            self._finish(Recording(self.video.path.name, self.video.start, 0.0, 0, str(error)), ())
            return
        try:
            self._scan(reader)
        finally:
            reader.close()

    def _scan(self, reader: FrameReader) -> None:
        analyser, snapshots, minutes = self._begin(reader)
        self.already_scanned, saved = reader.seconds, time.monotonic()
        for frame in reader.frames():
            snapshot = analyser.analyse(frame, known_score=snapshots.known_score)
            if snapshot is not None:
                snapshots.add(snapshot)
            minute = snapshots.minute
            minutes += self._candidates(snapshots, frame.second)
            self.scanned = reader.seconds
            if self.stop.is_set():
                return
            if snapshots.minute > minute and time.monotonic() - saved >= CHECKPOINT_PERIOD:
                self._save(reader, analyser, snapshots, minutes)
                saved = time.monotonic()
        self.scanned = reader.seconds
        minutes += self._candidates(snapshots, None)
        self._finish(
            Recording(
                self.video.path.name,
                self.video.start,
                round(reader.seconds, 3),
                reader.number,
                _problem(reader, self.video),
                tuple((round(begin, 3), round(end, 3)) for begin, end in reader.missing),
            ),
            minutes,
        )

    def _begin(self, reader: FrameReader) -> tuple[FrameAnalyser, SnapshotsByMinute, list[ScoredMinute]]:
        """Start at the beginning of the video or at its checkpoint."""
        analyser, margin = FrameAnalyser(self.detector), self.settings.margin
        checkpoint = self.store.load(self.key, self.video, self.settings)
        if checkpoint is None or not reader.resume(checkpoint.position):
            reader.rewind()
            return analyser, SnapshotsByMinute(self.video, margin), []
        analyser.restore(checkpoint.analyser, checkpoint.arrays)
        snapshots = SnapshotsByMinute(self.video, margin, checkpoint.snapshots, checkpoint.minute)
        return analyser, snapshots, list(checkpoint.minutes)

    def _candidates(self, snapshots: SnapshotsByMinute, second: float | None) -> Iterator[ScoredMinute]:
        """Yield the candidates among the minutes that end before ``second``, and write their sheets."""
        for number, own in snapshots.pop_finished(second):
            score = round(max((one.score for one in own), default=0.0), 3)
            if own and score >= 1 - self.settings.sensitivity - 1e-9:
                sheet = draw_sheet(self.video, number, score, own)
                write_sheet(self.store.sheet(self.key, number), sheet)
                yield ScoredMinute(number, self.video.minute_of_day(number), score)

    def _save(
        self,
        reader: FrameReader,
        analyser: FrameAnalyser,
        snapshots: SnapshotsByMinute,
        minutes: Sequence[ScoredMinute],
    ) -> None:
        numbers, arrays = analyser.state()
        checkpoint = Checkpoint(
            reader.position, snapshots.minute, numbers, arrays, tuple(snapshots.snapshots), tuple(minutes)
        )
        self.store.save(self.key, self.video, self.settings, checkpoint)

    def _finish(self, recording: Recording, minutes: Sequence[ScoredMinute]) -> None:
        end = self.video.end(recording.seconds)
        record = ScanRecord(self.key, self.video.door, recording, end, tuple(minutes), self.settings)
        self.store.finish(record)
        self.record = record


def _problem(reader: FrameReader, video: Video) -> str | None:
    if reader.number == 0:
        return f"{reader.path}: contains no readable frame"
    problems = []
    if reader.missing:
        spans = [span_text((video.end(begin), video.end(end))) for begin, end in reader.missing]
        more = len(spans) - _LISTED_SPANS
        listed = ", ".join(spans[:_LISTED_SPANS]) + (f" and {more} more times" if more > 0 else "")
        problems.append(f"no picture from {listed}")
    if reader.truncated:
        problems.append(
            f"truncated or damaged, only {reader.seconds:.0f} of {reader.declared_seconds:.0f} s "
            "could be read"
        )
    return f"{reader.path}: {'; '.join(problems)}" if problems else None
