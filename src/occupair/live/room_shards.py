"""Shards: which of several services has which room."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache

MAX_SHARDS = 1_000
"""Most shards of a store."""
_PATTERN = re.compile(r"([1-9]\d{0,3})/([1-9]\d{0,3})")


@dataclass(frozen=True)
class Shard:
    """One of the services that share the rooms of a store.

    Parameters
    ----------
    number : int
        Its number, from 1.
    count : int
        Number of shards.

    Examples
    --------
    >>> shard = parse_shard("2/8")
    >>> str(shard), shard.suffix, shard.owns("lab"), owner_of("lab", 8)
    ('2/8', '2-of-8', False, 7)
    """

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def suffix(self) -> str:
        """The shard as part of a client id or a topic."""
        return f"{self.number}-of-{self.count}"

    def owns(self, room: str) -> bool:
        """Whether a room belongs to this shard."""
        return owner_of(room, self.count) == self.number


@lru_cache(maxsize=1 << 18)
def owner_of(room: str, count: int) -> int:
    """Return the number of the shard that a room belongs to, of ``count`` shards.

    The first 8 bytes of BLAKE2b-512 of the room id as a big-endian integer, modulo ``count``, plus 1. It
    never changes, because shards of different versions must agree on it.
    """
    digest = hashlib.blake2b(room.encode()).digest()
    return int.from_bytes(digest[:8], "big") % count + 1


def parse_shard(text: str) -> Shard:
    """Parse ``NUMBER/COUNT``, or raise ``ValueError`` with the rule that it breaks."""
    match = _PATTERN.fullmatch(text)
    if match is None or not int(match[1]) <= int(match[2]) <= MAX_SHARDS:
        raise ValueError(f"must be NUMBER/COUNT such as 2/8, from 1/1 to {MAX_SHARDS}/{MAX_SHARDS}")
    return Shard(int(match[1]), int(match[2]))
