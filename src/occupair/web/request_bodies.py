"""JSON request bodies: parsing, validation by a pydantic model, and OpenAPI documentation."""

from __future__ import annotations

from typing import Any, TypeVar

from fastapi import HTTPException, Request
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from occupair.web.errors import describe_validation_error, describe_value

Model = TypeVar("Model", bound=BaseModel)
SCHEMA_REFERENCE = "#/components/schemas/{model}"


def media_type(request: Request) -> str:
    """Return the media type of a request body, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_json(request: Request) -> bytes:
    """Read a request body of type JSON, or respond 415."""
    given = media_type(request)
    if given != "application/json":
        raise HTTPException(415, f"Content-Type must be application/json, got {describe_value(given)}")
    return await request.body()


def parse_json(data: bytes) -> Any:
    """Parse JSON, or respond 422. NaN and Infinity are not valid JSON."""
    try:
        return from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise HTTPException(422, f"the request body must be valid JSON: {error}") from None


async def read_model(request: Request, model: type[Model]) -> Model:
    """Read and validate a JSON request body, or respond 415 or 422."""
    values = parse_json(await read_json(request))
    try:
        return model.model_validate(values, strict=True)
    except ValidationError as error:
        raise HTTPException(422, describe_validation_error(error)) from None


def json_body(schema: type[BaseModel] | dict[str, Any]) -> dict[str, Any]:
    """Document the JSON request body of a route in OpenAPI."""
    if not isinstance(schema, dict):
        schema = {"$ref": SCHEMA_REFERENCE.format(model=schema.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
