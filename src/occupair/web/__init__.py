"""Shared parts of the HTTP servers: the live service and the counting page.

Modules in the order in which a request passes them:

- `server`: the HTTP server, with limits on connections; `log_throttle`: limit on repeated log messages
- `security_headers`: headers of every response
- `access`: tokens and roles, cross-site requests, rate limits and body size limits
- `limits`: default limits
- `tokens`: access tokens and their hashes
- `hosts`: loopback addresses, and protection against DNS rebinding
- `request_bodies`: JSON bodies, validated by a pydantic model
- `images`: uploaded images, checked not to contain scripts
- `errors`: error responses
- `assets`: static files of a page; ``static/`` has those that all pages share
"""
