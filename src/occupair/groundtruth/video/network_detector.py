"""Person detection with a neural network that the user provides, run by OpenCV.

Supported are networks whose class 0 is a person, as in COCO, with one of these outputs:

- YOLOv5 to v7: ``(1, boxes, 5 + classes)`` with centre, size [px of the input], objectness and class scores
- YOLOv8 to v12: ``(1, 4 + classes, boxes)`` with centre, size [px of the input] and class scores
- FastestDet: ``(1, 5 + classes, rows, columns)`` with objectness, offset, size and class scores of each cell
- Darknet (``.weights`` with its ``.cfg`` beside it): YOLOv3 and v4, also tiny
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from occupair.errors import InputError
from occupair.groundtruth.video.frames import Image
from occupair.groundtruth.video.motion import BoundingBox
from occupair.groundtruth.video.opencv import opencv
from occupair.groundtruth.video.person_detector import (
    PERSON_SCORE,
    Detection,
    is_moving,
    search_area,
)

MIN_CONFIDENCE = 0.3
"""Detections with less confidence are ignored [0..1]."""
_SIZES = (352, 416, 640, 320, 512, 256)  # input sizes to try [px]; a network may accept only one of them
_Boxes = NDArray[np.float32]  # rows of centre x and y, width and height [fractions of the input], confidence


class NetworkDetector:
    """Detect people around moving regions with a network.

    Parameters
    ----------
    path : Path
        An ONNX file, or Darknet weights.
    """

    def __init__(self, path: Path) -> None:
        self._cv2: Any = opencv()
        self._path, self._net = path, self._read(path)
        self._swap_colours = True  # RGB, except FastestDet
        self._size = self._find_size()

    def _read(self, path: Path) -> Any:
        cv2 = self._cv2
        if not path.is_file():
            raise InputError(f"--detector {path}: no such file")
        try:
            if path.suffix == ".onnx":
                return cv2.dnn.readNetFromONNX(str(path))
            if path.suffix == ".weights":
                return cv2.dnn.readNetFromDarknet(str(path.with_suffix(".cfg")), str(path))
        except cv2.error:
            raise InputError(
                f"--detector {path}: cannot be read by OpenCV: damaged or not supported"
            ) from None
        raise InputError(f"--detector {path}: must be an .onnx file, or .weights with a .cfg beside it")

    def _find_size(self) -> int:
        """Find an input size that the network accepts."""
        refused = ""
        for size in _SIZES:
            try:
                outputs = self._forward(np.zeros((size, size, 3), np.uint8), size)
            except self._cv2.error:
                continue
            if all(_is_supported(one.shape) for one in outputs):
                self._swap_colours = outputs[0].ndim != 4
                return size
            refused = refused or f", got the shape {', '.join(str(one.shape) for one in outputs)}"
        raise InputError(
            f"--detector {self._path}: output must be that of YOLO or FastestDet, for a square input of "
            f"{', '.join(map(str, _SIZES[:-1]))} or {_SIZES[-1]} pixels{refused}"
        )

    def _forward(self, image: Image, size: int) -> Sequence[Any]:
        blob = self._cv2.dnn.blobFromImage(image, 1 / 255, (size, size), swapRB=self._swap_colours)
        self._net.setInput(blob)
        outputs: Sequence[Any] = self._net.forward(self._net.getUnconnectedOutLayersNames())
        return outputs

    def detect(self, image: Image, region: BoundingBox) -> Detection | None:
        """Return the highest-scoring person around a moving region."""
        height, width = image.shape[:2]
        left, top, right, bottom = search_area(region, width, height)
        square = max(right - left, bottom - top)
        crop = self._cv2.copyMakeBorder(
            image[top:bottom, left:right],
            *(0, square - (bottom - top), 0, square - (right - left)),
            self._cv2.BORDER_CONSTANT,
            value=(114, 114, 114),
        )
        found = [
            Detection(_in_image(box, left, top, square, width, height), PERSON_SCORE + 0.5 * float(box[4]))
            for output in self._forward(crop, self._size)
            for box in people(output, self._size)
        ]
        moving = [one for one in found if is_moving(one.box, region)]
        return max(moving, key=lambda one: one.score, default=None)


def _is_supported(shape: Sequence[int]) -> bool:
    if len(shape) == 2:
        return shape[1] >= 6
    return shape[0] == 1 and (
        (len(shape) == 3 and min(shape[1:]) >= 5) or (len(shape) == 4 and shape[1] >= 6)
    )


def people(output: NDArray[np.float32], size: int) -> Iterator[_Boxes]:
    """Yield the people in the output of a network, as fractions of its input with their confidence."""
    if output.ndim == 4:
        boxes = _fastestdet(output[0])
    elif output.ndim == 2:
        boxes = np.column_stack([output[:, :4], output[:, 5]])  # Darknet: class scores include objectness
    elif output.shape[1] < output.shape[2]:
        rows = output[0].T
        boxes = np.column_stack([rows[:, :4] / size, rows[:, 4]])
    else:
        rows = output[0]
        boxes = np.column_stack([rows[:, :4] / size, rows[:, 4] * rows[:, 5]])
    yield from boxes[boxes[:, 4] >= MIN_CONFIDENCE]


def _fastestdet(output: NDArray[np.float32]) -> _Boxes:
    rows, columns = output.shape[1:]
    down, across = np.mgrid[0:rows, 0:columns]
    objectness, x, y, width, height, person = output[:6]
    sides = [1 / (1 + np.exp(-side)) for side in (width, height)]
    centre = [(across + np.tanh(x)) / columns, (down + np.tanh(y)) / rows]
    confidence = np.maximum(objectness, 0) ** 0.6 * np.maximum(person, 0) ** 0.4
    boxes: _Boxes = np.column_stack([part.ravel() for part in (*centre, *sides, confidence)])
    return boxes


def _in_image(box: _Boxes, left: int, top: int, square: int, width: int, height: int) -> BoundingBox:
    x, y, wide, high = (float(part) * square for part in box[:4])
    return BoundingBox(
        (left + x - wide / 2) / width,
        (top + y - high / 2) / height,
        wide / width,
        high / height,
        wide * high / width / height,
    )
