"""One video from its start, or from where a scan of it was stopped, as far as it goes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event

from occupair.errors import InputError
from occupair.groundtruth.events import Recording
from occupair.groundtruth.video.contact_sheets import draw_sheet, write_sheet
from occupair.groundtruth.video.frame_analysis import FrameAnalyser
from occupair.groundtruth.video.frames import FrameReader
from occupair.groundtruth.video.scan_store import Checkpoint, Hit, Record, ScanStore, Settings
from occupair.groundtruth.video.snapshots import SnapshotsByMinute
from occupair.groundtruth.video.video_files import Video, end_of

EVERY = 1.0
"""How often a scan is kept on disk at most [s of work]; after a stop so much is done again."""


@dataclass
class Job:
    """A video that is to be scanned, or has been: then ``record`` says what was found."""

    video: Video
    key: str
    store: ScanStore
    settings: Settings
    record: Record | None = None
    known: float = 0.0  # how much of it had been scanned before [s]
    done: float = 0.0  # how much of it is scanned [s]
    stop: Event = field(default_factory=Event)  # set it to have it stop

    def run(self) -> None:
        """Scan the video as far as it goes."""
        try:
            reader = FrameReader(self.video.path)
        except InputError as error:
            self._finish(Recording(self.video.path.name, self.video.start, 0.0, 0, str(error)), ())
            return
        try:
            self._scan(reader)
        finally:
            reader.close()

    def _scan(self, reader: FrameReader) -> None:
        watcher, book, hits = self._begin(reader)
        self.known, kept = reader.seconds, time.monotonic()
        for frame in reader.frames(self.settings.rate):
            shot = watcher.look(frame, known=book.known)
            if shot is not None:
                book.add(shot)
            minute = book.minute
            hits += self._keep(book, frame.second)
            self.done = reader.seconds
            if self.stop.is_set():
                return
            if book.minute > minute and time.monotonic() - kept >= EVERY:
                self._save(reader, watcher, book, hits)
                kept = time.monotonic()
        self.done = reader.seconds
        hits += self._keep(book, None)
        seconds = round(reader.seconds, 3)
        problem = _problem(reader)
        self._finish(Recording(self.video.path.name, self.video.start, seconds, reader.number, problem), hits)

    def _begin(self, reader: FrameReader) -> tuple[FrameAnalyser, SnapshotsByMinute, list[Hit]]:
        """Start at the start, or where a scan was stopped."""
        watcher, margin = FrameAnalyser(), self.settings.margin
        stopped = self.store.load(self.key, self.video, self.settings)
        if stopped is None or not reader.resume(stopped.position):
            reader.rewind()
            return watcher, SnapshotsByMinute(self.video, margin), []
        watcher.restore(stopped.watcher, stopped.arrays)
        return (
            watcher,
            SnapshotsByMinute(self.video, margin, stopped.shots, stopped.minute),
            list(stopped.hits),
        )

    def _keep(self, book: SnapshotsByMinute, second: float | None) -> Iterator[Hit]:
        """Give the minutes that are over and in which somebody may have passed; their sheets are written."""
        for number, shots in book.close(second):
            score = round(max((shot.score for shot in shots), default=0.0), 3)
            if shots and score >= 1 - self.settings.sensitivity - 1e-9:
                sheet = draw_sheet(self.video, number, score, shots)
                write_sheet(self.store.sheet(self.key, number), sheet)
                yield Hit(number, self.video.minute_of_day(number), score)

    def _save(
        self, reader: FrameReader, watcher: FrameAnalyser, book: SnapshotsByMinute, hits: Sequence[Hit]
    ) -> None:
        numbers, arrays = watcher.state()
        checkpoint = Checkpoint(reader.position, book.minute, numbers, arrays, tuple(book.shots), tuple(hits))
        self.store.save(self.key, self.video, self.settings, checkpoint)

    def _finish(self, recording: Recording, hits: Sequence[Hit]) -> None:
        end = end_of(self.video, recording.seconds)
        record = Record(self.key, self.video.door, recording, end, tuple(hits), self.settings)
        self.store.finish(record)
        self.record = record


def _problem(reader: FrameReader) -> str | None:
    if reader.number == 0:
        return f"{reader.path}: no frame in it can be read"
    if reader.missing:
        return (
            f"{reader.path}: cut off or damaged, {reader.seconds:.0f} of {reader.declared_seconds:.0f} s"
            " could be read"
        )
    return None
