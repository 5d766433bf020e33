"""Occupancy ledger: passages added up to occupancy, checked and corrected.

- `passage_grid`: passages on a one-minute grid of days
- `coverage`: times for which a door has no data
- `directions`: doors whose entries and exits are swapped
- `clock_offsets`: doors whose clocks disagree
- `overnight`: people who stay over the daily reset
- `balancing`: the cheapest change that balances a day, and its uncertainty
- `corrections`: proposed corrections by door and minute
- `door_balance`: entries and exits of each door
- `issues`: what is wrong with a ledger as counted
- `ledger`: the ledger, and labelled readings from it
"""
