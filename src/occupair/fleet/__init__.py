"""Portfolios: thousands of rooms trained, estimated and scored on a process pool or a Dask cluster.

`room_result` defines a row of the result. `rooms_page` renders the page for operators from these rows:
`rooms_page_summary` its key figures and groups of rooms (`message_groups`), `rooms_page_data` the data of its
table and figures; its template, style sheet and scripts are in ``page/``.
"""
