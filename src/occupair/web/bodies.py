"""Bodies of requests: JSON of a model, and how OpenAPI hears of them."""

from __future__ import annotations

from typing import Any, TypeVar

from fastapi import HTTPException, Request
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from occupair.web.errors import in_words
from occupair.web.json_text import in_json_words

Model = TypeVar("Model", bound=BaseModel)
REFERENCE = "#/components/schemas/{model}"


def kind_of(request: Request) -> str:
    """Give the media type of a request's body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_json(request: Request) -> bytes:
    """Read a body that says it is JSON."""
    kind = kind_of(request)
    if kind != "application/json":
        raise HTTPException(415, f"Content-Type must be application/json, got {in_json_words(kind)}")
    return await request.body()


def parse_json(data: bytes) -> Any:
    """Parse JSON, or answer 422; NaN and Infinity are no JSON."""
    try:
        return from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise HTTPException(422, f"the body must be JSON: {error}") from None


async def read_model(request: Request, model: type[Model]) -> Model:
    """Read a body of JSON by the rules of a model, or answer 415 or 422."""
    values = parse_json(await read_json(request))
    try:
        return model.model_validate(values, strict=True)
    except ValidationError as error:
        raise HTTPException(422, in_words(error)) from None


def json_body(schema: type[BaseModel] | dict[str, Any]) -> dict[str, Any]:
    """Say for OpenAPI that a route reads JSON."""
    if not isinstance(schema, dict):
        schema = {"$ref": REFERENCE.format(model=schema.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
