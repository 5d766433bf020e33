"""HTTP interface of the live service, and its page.

`app` assembles it: every request passes the security headers and the access control of `occupair.web`, then
one of the routes. The modules:

- `app`: the web application
- `dependencies`: the pipeline, room, time and language of a request
- `forwarding`: requests about rooms of other shards
- `rooms`: states of rooms, and the history of estimates
- `hours`, `today`, `csv_export`: use of a room by hour, all rooms since midnight, and both as CSV
- `floors`: floor plans, and the places of rooms on them
- `readings`: posted readings
- `labels`: head counts
- `air`: what CO2 tells about the air of a room
- `models`, `training`: model versions, and training on labels
- `events`: server-sent events with every change of state
- `login`: the login of the page
- `health`, `metrics`: health check and Prometheus metrics
- `schemas`, `state_json`, `rfc3339`: models of requests and responses, JSON of states, times
"""
