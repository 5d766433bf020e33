"""Packets that no other frame needs: they can be left out without any effect on the rest of the video."""

from __future__ import annotations

from typing import Any

_SLICES = range(1, 6)  # NAL unit types of H.264 with a part of a picture


def is_disposable(packet: Any) -> bool:
    """Whether no other frame refers to the frame in a packet (av.Packet).

    For H.264, containers rarely say so, but the header of each slice does (ITU-T H.264, 7.4.1: nal_ref_idc).
    """
    if packet.is_disposable or packet.stream.codec_context.name != "h264":
        return bool(packet.is_disposable)
    extradata = packet.stream.codec_context.extradata or b""
    length_size = (extradata[4] & 3) + 1 if len(extradata) > 4 and extradata[0] == 1 else 0
    return nal_ref_idc(memoryview(packet), length_size) == 0


def nal_ref_idc(content: memoryview | bytes, length_size: int) -> int | None:
    """Return nal_ref_idc of the first slice of an H.264 packet; None if there is no slice.

    Parameters
    ----------
    content : bytes
        NAL units, each after its length, or after a start code if ``length_size`` is 0.
    length_size : int
        Bytes of the length of a NAL unit.

    Examples
    --------
    >>> nal_ref_idc(bytes([0, 0, 0, 2, 0x06, 0, 0, 0, 0, 1, 0x01]), 4)
    0
    >>> nal_ref_idc(bytes([0, 0, 0, 1, 0x41]), 0)
    2
    """
    place = 0
    while True:
        if length_size:
            begin = place + length_size
            place = begin + int.from_bytes(content[place:begin], "big")
        else:
            found = bytes(content[place : place + 4096]).find(b"\0\0\1")
            begin = place = place + found + 3 if found >= 0 else len(content)
        if begin >= len(content):
            return None
        header = content[begin]
        if header & 31 in _SLICES:
            return header >> 5 & 3
