"""Mutations of bytes, regardless of the format."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tools.fuzz.interesting import ALL

_TOKENS = (
    *(text.encode("utf-8", "surrogatepass") for text in ALL),
    b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc0\x80", b"\xed\xa0\x80", b"\x00\x00", b"\x80",
)  # fmt: skip
MOST = 60_000
"""Longest input [bytes]; longer ones cost time and find little."""


def mutate_bytes(data: bytes, random: Random, tokens: Sequence[bytes] = ()) -> bytes:
    """Apply some mutations, mostly one or two; ``tokens`` are words of the format."""
    known = (*_TOKENS, *tokens, *tokens) if tokens else _TOKENS
    content = bytearray(data)
    while True:
        _mutate_once(content, random, known)
        if random.random() < 0.6:
            return bytes(content[:MOST])


def random_bytes(random: Random, tokens: Sequence[bytes] = ()) -> bytes:
    """Return bytes of no format, or words of a format in no order."""
    if tokens and random.random() < 0.7:
        return b"".join(random.choice(tokens) for _ in range(random.randint(0, 30)))
    return random.randbytes(random.choice((0, 1, 2, 5, 20, 100, 500)))


def _mutate_once(content: bytearray, random: Random, tokens: Sequence[bytes]) -> None:
    start = random.randrange(len(content) + 1)
    end = min(len(content), start + random.choice((1, 1, 2, 4, 8, 30, 200)))
    match random.randrange(10):
        case 0 if content:
            content[start % len(content)] ^= 1 << random.randrange(8)
        case 1 if content:
            content[start % len(content)] = random.randrange(256)
        case 2:
            del content[start:end]
        case 3:
            content[start:start] = content[start:end] * random.choice((1, 2, 50))
        case 4:
            content[start:start] = random.choice(tokens)
        case 5:
            content[start:end] = random.choice(tokens)
        case 6:
            del content[start:]
        case 7:
            other = random.randrange(len(content) + 1)
            content[start:end] = content[other : other + end - start]
        case 8:
            _replace_number(content, start, random)
        case _:
            del content[:start]


def _replace_number(content: bytearray, start: int, random: Random) -> None:
    """Replace the next run of digits by a word."""
    digits = b"0123456789"
    while start < len(content) and content[start] not in digits:
        start += 1
    end = start
    while end < len(content) and content[end] in digits:
        end += 1
    content[start:end] = random.choice(_TOKENS)
