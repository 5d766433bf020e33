"""Passages from door counters and counted videos.

- `direction_vocabulary`: words for entries and exits
- `counter_records`: records of a counter converted to passages
- `counter_tables`, `mqtt_logs`, `video_counts`: read CSV exports, MQTT logs and counted events folders
- `read_passages`: read any of these, by type of file
"""
