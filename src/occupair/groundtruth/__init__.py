"""Ground truth: head counts for training, from door videos and door counters.

- `video`: scan door videos for the minutes in which somebody may have passed
- `events`: the events folder that a scan writes
- `counting`: count entries and exits in these minutes, on a local web page
- `passages`: entries and exits by door and minute
- `counters`: read passages from counted videos, door counter exports and MQTT logs
- `ledger`: add passages up to occupancy, find issues, propose corrections, label readings
- `planning`: how many more days to label, and which
"""
