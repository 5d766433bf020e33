"""Ground truth: from doors and videos to head counts that an estimator can be trained on.

- `passages`: who went in and out, per door and minute; read from a counting folder or from door counters
- `door_counters`, `mqtt_logs`, `counter_series`: what counters export, made into passages
- `ledger`: passages added up to occupancy, what is wrong with it, and readings to train on
- `ledger_days`: the minutes of a ledger, in whole days from reset to reset
- `closing`, `corrections`: the smallest change that makes a ledger close, and how sure its places are
- `door_clocks`, `ledger_faults`: what can be the matter with passages
"""
