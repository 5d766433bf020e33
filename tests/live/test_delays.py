"""Counts of delays."""

from occupair.live.delays import BOUNDS, DelayCounts


def test_delay_at_a_bound_is_included():
    delays = DelayCounts()
    delays.add([0.05, 0.0500001, 60.0, 60.0000001])
    assert [(bound, n) for bound, n in zip([*BOUNDS, "longer"], delays.counts, strict=True) if n] == [
        (0.05, 1),
        (0.1, 1),
        (60.0, 1),
        ("longer", 1),
    ]


def test_total_is_the_sum():
    delays = DelayCounts()
    delays.add([0.25, 0.5])
    delays.add([])
    delays.add(iter([128.0]))
    assert delays.total == 128.75
