"""Utilisation of rooms: when they are used, by how many people, and which seats are never used.

All functions take counts of one room (`counts`): people with a prediction interval at regular local times.

- `counts`: the counts of a room; when a room is in use
- `opening_hours`: times at which rooms are meant to be used
- `week_grid`: means for each hour of the week
- `days`: daily peaks, hours in use, days to leave out
- `bad_days`: times with a faulty sensor
- `weeks`: weeks compared
- `seats`: seats that are never used
- `calendar_events`: meetings in calendar files; `meetings`: compared with counts
- `room_usage`: all of it for one room; `room_order`: for a period, also from a model
- `estimate_files`, `file_usage`: rooms from files; `room_list`: their names, floors and seats
- `findings`: rooms to look at, and the summary in words
- `report_page`: the report as a page, with `page_data` and ``page/``; `tables`: as CSV tables
"""
