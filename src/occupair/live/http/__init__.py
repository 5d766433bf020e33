"""HTTP of the service: rooms, history, readings, labels, models, training, events, metrics and the page.

`app` puts it together. A request passes `headers` and `access` (who is it, from where, how often, how much)
before a route of `rooms`, `labels`, `models_routes`, `training`, `events` or `metrics` sees it.
"""
