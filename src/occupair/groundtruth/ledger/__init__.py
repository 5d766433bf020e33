"""Occupancy ledger: passages added up to occupancy, checked and corrected.

- `passage_grid`: passages on a one-minute grid of days
- `clock_offsets`: doors whose clocks disagree
- `balancing`: the cheapest change that balances a day, and its uncertainty
- `corrections`: proposed corrections by door and minute
- `issues`: what is wrong with a ledger as counted
- `ledger`: the ledger, and labelled readings from it
"""
