"""Shared parts of the HTTP servers: access control, error responses, request bodies and static files."""
