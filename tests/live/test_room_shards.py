"""Which shard a room belongs to."""

from collections import Counter

import pytest

from occupair.live.room_shards import Shard, owner_of, parse_shard


def test_hash_is_that_of_rfc_7693():
    """BLAKE2b-512 of "abc" starts with ba 80 a5 3f 98 1c 4d 0d (RFC 7693, appendix A).

    As a big-endian integer it ends with the byte 0x0d: 13 mod 8 = 5, which is the sixth shard of eight. It is
    odd, so of two shards it is the second. Of 256 shards it is number 13 + 1.
    """
    assert [owner_of("abc", count) for count in (1, 2, 8, 256)] == [1, 2, 6, 14]


def test_rooms_are_spread_evenly():
    """The number of rooms of a shard is binomial: 4,000 on average, standard deviation 55."""
    counts = Counter(owner_of(f"room-{number:05d}", 4) for number in range(16_000))
    assert sorted(counts) == [1, 2, 3, 4]
    assert all(abs(count - 4_000) < 5 * 55 for count in counts.values())


def test_every_room_has_one_owner():
    shards = [Shard(number, 3) for number in (1, 2, 3)]
    for room in ("lab", "hall", "room_101", "z" * 64):
        assert sum(shard.owns(room) for shard in shards) == 1


@pytest.mark.parametrize(("text", "shard"), [("1/1", Shard(1, 1)), ("1000/1000", Shard(1000, 1000))])
def test_shard_is_parsed(text, shard):
    assert parse_shard(text) == shard
    assert str(shard) == text


@pytest.mark.parametrize(
    "text", ["", "2", "0/2", "3/2", "02/8", "2/08", "2/1001", "-1/2", "1/0", "1/2/3", " 1/2", "1 / 2", "٢/٨"]
)
def test_invalid_shard_is_refused(text):
    with pytest.raises(ValueError, match=r"^must be NUMBER/COUNT such as 2/8, from 1/1 to 1000/1000$"):
        parse_shard(text)
