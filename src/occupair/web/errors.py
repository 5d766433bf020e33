"""Error responses: one line of text each, and their OpenAPI documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from occupair.errors import InputError

_DESCRIPTIONS = {
    401: "Missing or invalid token.",
    403: "Insufficient role, or cross-site request.",
    404: "Not found.",
    409: "Conflict.",
    413: "Request too large.",
    415: "Unsupported media type.",
    422: "Invalid input.",
    429: "Rate limit exceeded.",
    503: "Temporarily unavailable.",
}
_RETRY_AFTER = {
    "Retry-After": {"description": "Time until a retry [s].", "schema": {"type": "integer", "minimum": 1}}
}
_RULES = {
    "missing": "is required",
    "int_parsing": "must be an integer",
    "int_type": "must be an integer",
    "int_from_float": "must be an integer",
    "int_parsing_size": "must be a smaller integer",
    "integer": "must be an integer",
    "string_type": "must be a string",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must have printable characters only",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}
_SECRET_FIELDS = ("token",)


def error_response(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return an error as JSON: ``{"detail": "..."}``."""
    return JSONResponse({"detail": single_line(detail)}, status, headers=dict(headers or {}))


def ignore_disconnects(app: FastAPI) -> None:
    """End a request without an error, which would be logged, if its client leaves before it has sent it."""

    async def on_disconnect(request: Request, error: Exception) -> Response:
        return Response(status_code=400)  # nobody receives it

    app.add_exception_handler(ClientDisconnect, on_disconnect)


@contextmanager
def conflict_on_input_error() -> Iterator[None]:
    """Respond 409 to an `InputError`: a valid request that the current state does not allow."""
    try:
        yield
    except InputError as error:
        raise HTTPException(409, str(error)) from None


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Document the errors of a route that needs a token."""
    return {status: _documented(status) for status in sorted({*statuses, 401, 403, 429})}


def public_error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Document the errors of a route that needs no token."""
    return {status: _documented(status) for status in sorted({*statuses, 403, 429})}


def _documented(status: int) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    response: dict[str, Any] = {"description": _DESCRIPTIONS[status], "content": content}
    return response | {"headers": _RETRY_AFTER} if status in (429, 503) else response


def describe_validation_error(error: RequestValidationError | ValidationError) -> str:
    """Describe the first error that pydantic found, in one line."""
    first = error.errors()[0]
    where = _path(first["loc"])
    rule = _RULES.get(first["type"])
    if rule is None:
        broken = re.sub(r"^(Input|Value|String) should ", "must ", first["msg"])
    else:
        broken = rule.format(**first.get("ctx", {}))
    without_value = first["type"] == "missing" or where.endswith(_SECRET_FIELDS)
    got = "" if without_value else f", got {describe_value(first['input'])}"
    return single_line(f"{where} {broken}{got}")


def _path(loc: Sequence[int | str]) -> str:
    """Format the location of a value, such as ``readings[3].co2``."""
    steps = [step for step in loc if step not in ("body", "query", "path")]
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.lstrip(".") or "the request body"


def describe_value(value: object) -> str:
    """Describe a JSON value in one short line.

    Examples
    --------
    >>> describe_value("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    >>> describe_value(None), describe_value([1, 2])
    ('null', 'a list')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > 10**40:
        return "an integer of more than 40 digits"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 41 else text[:38] + "..."


def single_line(text: str) -> str:
    """Replace line breaks and control characters by spaces, and truncate to 500 characters."""
    return "".join(character if character.isprintable() else " " for character in text).strip()[:500]
