"""Distractors for rendered videos: motion that is not a person. Each changes the camera image at a time [s].

Every distractor is drawn from a seed (place, size, pace) and is active in half of the minutes.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

Effect = Callable[[np.ndarray, float], np.ndarray]


def _bursts(rng: np.random.Generator, *, least: float, most: float) -> Callable[[float], float | None]:
    """Time since the start of a burst [s], or None; one burst in every other minute."""
    begin, length = rng.uniform(5, 20), rng.uniform(least, most)

    def since(second: float) -> float | None:
        into = second % 120 - begin
        return into if 0 <= into < length else None

    return since


def _random(seed: int, *numbers: float) -> np.random.Generator:
    return np.random.default_rng([seed, *(int(number) for number in numbers)])


def screen(seed: int) -> Effect:
    """A monitor on the wall whose content changes, in part or as a whole."""
    rng = _random(seed, 1)
    width, height = rng.integers(70, 150), rng.integers(50, 90)
    left, top = rng.integers(20, 270 - width), rng.integers(60, 150)
    pace, since = rng.uniform(0.2, 1.5), _bursts(rng, least=15, most=35)

    def effect(picture: np.ndarray, second: float) -> np.ndarray:
        into = since(second)
        step = 0 if into is None else 1 + int(into / pace)
        whole = _random(seed, 2, step // 4).uniform(20, 235, (3, 4)).astype(np.float32)
        part = _random(seed, 3, step).uniform(20, 235, (3, 4)).astype(np.float32)
        part = np.where(_random(seed, 4, step).random((3, 4)) < 0.3, part, whole)
        content = cv2.resize(part, (int(width), int(height)), interpolation=cv2.INTER_LINEAR)
        picture[top : top + height, left : left + width] = content[..., None]
        return picture

    return effect


def shadow(seed: int) -> Effect:
    """A soft shadow that moves over wall and floor."""
    rng = _random(seed, 5)
    width, speed, depth = rng.uniform(30, 80), rng.uniform(60, 200), rng.uniform(0.15, 0.4)
    since = _bursts(rng, least=4, most=10)

    def effect(picture: np.ndarray, second: float) -> np.ndarray:
        into = since(second)
        if into is None:
            return picture
        across = np.arange(picture.shape[1]) - (-100 + speed * into)
        return (picture * (1 - depth * np.exp(-((across / width) ** 2)))[None, :, None]).astype(np.uint8)

    return effect


def light(seed: int) -> Effect:
    """A sudden change of the light, stronger on one side."""
    rng = _random(seed, 6)
    strength, since, side = rng.uniform(0.2, 0.6), _bursts(rng, least=10, most=30), rng.random() < 0.5
    slope = np.linspace(0.5, 1.0, 640)[:: 1 if side else -1]

    def effect(picture: np.ndarray, second: float) -> np.ndarray:
        if since(second) is None:
            return picture
        return np.clip(picture * (1 - strength * slope)[None, :, None], 0, 255).astype(np.uint8)

    return effect


def door(seed: int) -> Effect:
    """A door leaf that swings open and shut without anybody."""
    rng = _random(seed, 7)
    since, pace = _bursts(rng, least=10, most=20), rng.uniform(0.8, 2.5)
    paint, hinge_right = rng.uniform(60, 220), rng.random() < 0.5

    def effect(picture: np.ndarray, second: float) -> np.ndarray:
        into = since(second)
        shut = 1.0 if into is None else max(0.0, 1 - into / pace)
        if into is not None and into > 6:
            shut = min(1.0, (into - 6) / pace)
        left, top, width, height = 300, 92, 100, 212
        near, drop = round(width * shut), round(22 * (1 - shut))
        x0, x1 = (left + width, left + width - near) if hinge_right else (left, left + near)
        corners = [(x0, top), (x1, top - drop), (x1, top + height + drop), (x0, top + height)]
        shade = paint * (0.8 + 0.2 * shut)
        cv2.fillPoly(picture, [np.array(corners, np.int32)], (shade * 0.9, shade, shade))
        return picture

    return effect


def tremble(seed: int) -> Effect:
    """A camera that trembles by one to four pixels."""
    rng = _random(seed, 8)
    since, size = _bursts(rng, least=8, most=30), rng.uniform(1.0, 4.0)

    def effect(picture: np.ndarray, second: float) -> np.ndarray:
        if since(second) is None:
            return picture
        across, down = size * _random(seed, 9, 100 * second).uniform(-1, 1, 2)
        move = np.array([[1, 0, across], [0, 1, down]], np.float32)
        return cv2.warpAffine(picture, move, picture.shape[1::-1], borderMode=cv2.BORDER_REPLICATE)

    return effect


def plant(seed: int) -> Effect:
    """A plant whose leaves sway."""
    rng = _random(seed, 10)
    since, left = _bursts(rng, least=10, most=30), int(rng.integers(420, 560))
    leaves = rng.normal(0, 1, (40, 2)) * (22, 34)
    pace, reach = rng.uniform(0.8, 2.5), rng.uniform(3, 12)
    phases, shades = rng.uniform(0, 1, 40), rng.uniform(30, 110, 40)

    def effect(picture: np.ndarray, second: float) -> np.ndarray:
        into = since(second)
        for (across, down), phase, shade in zip(leaves, phases, shades, strict=True):
            sway = 0.0 if into is None else reach * np.sin(2 * np.pi * (into / pace + phase / 3))
            sway *= min(1.0, max(0.0, 1 - down / 60))
            centre = (round(left + across + sway), round(230 + down))
            cv2.ellipse(picture, centre, (9, 4), 360 * phase, 0, 360, (shade * 0.5, shade, shade * 0.6), -1)
        return picture

    return effect


def curtain(seed: int) -> Effect:
    """A curtain whose folds move in the draught."""
    rng = _random(seed, 11)
    since, left, width = (
        _bursts(rng, least=8, most=30),
        int(rng.integers(20, 120)),
        int(rng.integers(60, 110)),
    )
    pace, reach, fold = rng.uniform(1.5, 4), rng.uniform(2, 9), rng.uniform(8, 16)

    def effect(picture: np.ndarray, second: float) -> np.ndarray:
        into = since(second)
        swing = 0.0 if into is None else reach * np.sin(2 * np.pi * into / pace)
        down, across = np.mgrid[0:220, 0:width].astype(np.float32)
        folds = 150 + 45 * np.sin((across + swing * down / 110) / fold * 2 * np.pi)
        picture[60:280, left : left + width] = folds[..., None]
        return picture

    return effect


def compression(seed: int) -> Effect:
    """Blocks of a low bit rate, which change at every keyframe."""

    def effect(picture: np.ndarray, second: float) -> np.ndarray:
        offsets = _random(seed, 12, second / 2).normal(0, 3, (23, 40)).astype(np.float32)
        blocks = np.kron(offsets, np.ones((16, 16), np.float32))[: picture.shape[0], : picture.shape[1]]
        return np.clip(picture + blocks[..., None], 0, 255).astype(np.uint8)

    return effect


DISTRACTORS: dict[str, Callable[[int], Effect]] = {
    "flickering screen": screen,
    "moving shadow": shadow,
    "sudden light change": light,
    "door swing": door,
    "trembling camera": tremble,
    "swaying plant": plant,
    "moving curtain": curtain,
    "compression noise": compression,
}
