"""Speed of the video scan for 1080p H.264 and HEVC, as Markdown: times real time, for one video on one core.

python tools/scan_speed.py        # half a minute of video per codec
python tools/scan_speed.py 120    # two minutes

The processor time is measured, so that other work on the machine hardly matters. The last column is for
comparison: OpenCV decodes every frame and converts five per second, without any analysis.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from groundtruth.render import Passage, Scene, encode, frame_at

from occupair.groundtruth.video.scan import RATE, scan_videos

FPS, SIZE = 25.0, (1920, 1080)
CODECS = {
    "H.264": ("libx264", {}),
    "H.264 without B-frames": ("libx264", {"bf": "0"}),
    "HEVC": ("libx265", {"preset": "superfast", "x265-params": "log-level=none"}),
    "HEVC without B-frames": (
        "libx265",
        {"preset": "superfast", "x265-params": "log-level=none:bframes=0"},
    ),
}


def pictures(seconds: float) -> Iterator[np.ndarray]:
    """A corridor with sensor noise, through which somebody passes every 30 s."""
    rng = np.random.default_rng(0)
    passages = [Passage(at=at) for at in np.arange(4, seconds, 30)]
    for number in range(round(seconds * FPS)):
        small = frame_at(number / FPS, passages, Scene(), rng)
        yield cv2.resize(small, SIZE, interpolation=cv2.INTER_LINEAR)


def every_frame(path: Path) -> None:
    capture, due = cv2.VideoCapture(str(path)), 0.0
    while capture.grab():
        second = capture.get(cv2.CAP_PROP_POS_MSEC) / 1000
        if second >= due:
            capture.retrieve()
            due += 1 / RATE


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    print(f"| 1080p, {FPS:.0f} frames per second | scan | decoding every frame |\n{'| --- ' * 3}|")
    for name, (codec, options) in CODECS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "north_20240108_080000.mp4"
            encode(path, pictures(seconds), codec, FPS, **options)
            scan_videos([path], Path(folder) / "first")  # with imports
            began = time.process_time()
            scan_videos([path], Path(folder) / "events")
            scanned = time.process_time()
            every_frame(path)
            decoded = time.process_time()
        print(
            f"| {name} | {seconds / (scanned - began):.0f} | {seconds / (decoded - scanned):.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
