"""Tiny ONNX networks for tests, written as protobuf: mean colours of cells, mapped to output channels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

CELL = 32  # size of a cell [px]


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, content: bytes | str) -> bytes:
    content = content.encode() if isinstance(content, str) else content
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _tensor(name: str, values: np.ndarray) -> bytes:
    kind = 7 if values.dtype == np.int64 else 1
    dims = b"".join(_number(1, size) for size in values.shape)
    return dims + _number(2, kind) + _bytes(8, name) + _bytes(9, values.tobytes())


def _node(kind: str, inputs: Sequence[str], output: str, **ints: Sequence[int]) -> bytes:
    attributes = b"".join(
        _bytes(5, _bytes(1, name) + b"".join(_number(8, one) for one in values) + _number(20, 7))
        for name, values in ints.items()
    )
    return b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output) + _bytes(4, kind) + attributes


def _value(name: str, shape: Sequence[int]) -> bytes:
    dims = b"".join(_bytes(1, _number(1, size)) for size in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, 1) + _bytes(2, dims)))


def write_network(
    path: Path, weights: np.ndarray, bias: np.ndarray, size: int, reshape: Sequence[int] | None = None
) -> Path:
    """Write a network that averages the colours of each cell and maps them to channels."""
    cells, channels = size // CELL, len(bias)
    nodes = [
        _node("AveragePool", ["image"], "cells", kernel_shape=[CELL, CELL], strides=[CELL, CELL]),
        _node("Conv", ["cells", "weights", "bias"], "channels", kernel_shape=[1, 1]),
    ]
    tensors = [
        _tensor("weights", weights.astype(np.float32).reshape(channels, 3, 1, 1)),
        _tensor("bias", bias.astype(np.float32)),
    ]
    output, shape = "channels", [1, channels, cells, cells]
    if reshape is not None:
        tensors.append(_tensor("shape", np.array(reshape, np.int64)))
        nodes.append(_node("Reshape", ["channels", "shape"], "boxes"))
        output, shape = "boxes", list(reshape)
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, "tiny")
    graph += b"".join(_bytes(5, tensor) for tensor in tensors)
    graph += _bytes(11, _value("image", [1, 3, size, size])) + _bytes(12, _value(output, shape))
    path.write_bytes(_number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13)))
    return path
