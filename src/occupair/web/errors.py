"""Errors: one plain line each, and what OpenAPI says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from fastapi import HTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from occupair.errors import InputError
from occupair.web.json_text import in_json_words

_MEANING = {
    401: "No token, or not a known one.",
    403: "The token's role does not allow this, or the request comes from another site.",
    404: "There is no such room, or no such thing in it.",
    409: "Not as things are now.",
    413: "Too much at once.",
    415: "The body is of another kind than is read here.",
    422: "Something that was sent breaks a rule.",
    429: "Too many requests.",
    503: "Not now; try again.",
}
_RETRY = {
    "Retry-After": {"description": "When to try again [s].", "schema": {"type": "integer", "minimum": 1}}
}
_RULES = {
    "missing": "must be given",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "whole": "must be a whole number",
    "string_type": "must be a text",
    "string_too_short": "must be a text that is not empty",
    "string_too_long": "must be a text of at most {max_length} characters",
    "string_pattern_mismatch": "must be a text of printable characters",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}
_SECRET = ("token",)


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Give an error as it is sent."""
    return JSONResponse({"detail": one_line(detail)}, status, headers=dict(headers or {}))


@contextmanager
def or_conflict() -> Iterator[None]:
    """Answer 409 to what cannot be done as things are now."""
    try:
        yield
    except InputError as error:
        raise HTTPException(409, str(error)) from None


def may_answer(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Say for OpenAPI which errors a route has."""
    return {status: _documented(status) for status in sorted({*statuses, 401, 403, 429})}


def open_may_answer(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Say the same of a route that needs no token."""
    return {status: _documented(status) for status in sorted({*statuses, 403, 429})}


def _documented(status: int) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    answer: dict[str, Any] = {"description": _MEANING[status], "content": content}
    return answer | {"headers": _RETRY} if status in (429, 503) else answer


def in_words(error: RequestValidationError | ValidationError) -> str:
    """Put the first of what pydantic found in one plain line."""
    first = error.errors()[0]
    where = _place(first["loc"])
    rule = _RULES.get(first["type"])
    if rule is None:
        said = re.sub(r"^(Input|Value|String) should ", "must ", first["msg"])
    else:
        said = rule.format(**first.get("ctx", {}))
    quiet = first["type"] == "missing" or where.endswith(_SECRET)
    return one_line(f"{where} {said}" + ("" if quiet else f", got {in_json_words(first['input'])}"))


def _place(loc: Sequence[int | str]) -> str:
    """Write where something is: ``readings[3].co2``."""
    steps = [step for step in loc if step not in ("body", "query", "path")]
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.lstrip(".") or "the body"


def one_line(text: str) -> str:
    """Leave a single line of a text, without what a terminal would obey."""
    return "".join(mark if mark.isprintable() else " " for mark in text).strip()[:500]
