"""HTTP interface of the live service, and its page.

`app` assembles it: every request passes the security headers and the access control of `occupair.web`, then a
route of `rooms`, `readings`, `labels`, `models`, `training`, `events`, `login`, `health` or `metrics`.
"""
