"""Entries and exits of each door over the whole log: which counter to look at first."""

from __future__ import annotations

from dataclasses import dataclass

from occupair.groundtruth.ledger.passage_grid import PassageGrid


@dataclass(frozen=True)
class DoorBalance:
    """Entries and exits of a door [people].

    Examples
    --------
    >>> print(DoorBalance("south", 200, 180))
    south: 10 % fewer exits than entries (200 entries, 180 exits)
    >>> print(DoorBalance("north", 12, 12))
    north: as many exits as entries (12 each)
    """

    door: str
    entered: int
    left: int

    def __str__(self) -> str:
        """Describe the balance in one line."""
        if self.entered == self.left:
            return f"{self.door}: as many exits as entries ({self.entered} each)"
        more, fewer = ("entries", "exits") if self.entered > self.left else ("exits", "entries")
        share = 100 * abs(self.entered - self.left) / max(self.entered, self.left)
        return (
            f"{self.door}: {share:.{0 if share >= 1 else 1}f} % fewer {fewer} than {more} "
            f"({self.entered} entries, {self.left} exits)"
        )


def door_balances(grid: PassageGrid) -> list[DoorBalance]:
    """Return the balance of every door over the days on which all doors were counted."""
    counted = grid.is_counted
    return [
        DoorBalance(door, int(grid.entered[k, counted].sum()), int(grid.left[k, counted].sum()))
        for k, door in enumerate(grid.doors)
    ]
