"""The paths of the service as an OpenAPI document."""

from __future__ import annotations

from typing import Any

import surefoot
from surefoot.service.batches import ARROW, JSON, LINES, MOST_ID, MOST_NAME, MOST_ROWS

_NAME = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$", "maxLength": MOST_NAME}
_ID = {
    "description": "Your id of the prediction; it makes every request safe to repeat.",
    "oneOf": [{"type": "string", "minLength": 1, "maxLength": MOST_ID}, {"type": "integer"}],
}
_SHARE = {"type": "number", "minimum": 0, "maximum": 1}
_TEXT = {"type": ["string", "integer", "boolean", "null"]}
_CLASS = {"type": ["string", "number", "boolean", "null"]}
_SCHEMAS: dict[str, Any] = {
    "Prediction": {
        "type": "object",
        "required": ["id"],
        "anyOf": [{"required": ["confidence"]}, {"required": ["doubt"]}],
        "additionalProperties": False,
        "properties": {
            "id": _ID,
            "confidence": {**_SHARE, "description": "Confidence in the predicted class."},
            "doubt": {**_SHARE, "description": "1 - confidence, where you know it more precisely."},
            "predicted": {**_CLASS, "description": "The predicted class, if labels are sent as classes."},
            "slice": {**_TEXT, "description": "A part of the data that is also counted apart."},
            "group": {**_TEXT, "description": "Rows of one request with the same group may depend on each other."},
            "correct": {
                "type": ["boolean", "null"],
                "description": "Whether it was correct, if that is known already.",
            },
        },
    },
    "Label": {
        "type": "object",
        "required": ["id"],
        "oneOf": [{"required": ["correct"]}, {"required": ["label"]}],
        "additionalProperties": False,
        "properties": {
            "id": _ID,
            "correct": {"type": "boolean", "description": "Whether the prediction was correct."},
            "label": {**_CLASS, "description": "The true class, if the prediction came with its predicted class."},
        },
    },
    "Receipt": {
        "type": "object",
        "properties": {
            "counted": {"type": "integer", "description": "Rows that are new; they are on disk."},
            "repeated": {"type": "integer", "description": "Rows that had come before; nothing changed."},
        },
    },
    "Error": {"type": "object", "properties": {"error": {"type": "string"}}},
}


def document() -> dict[str, Any]:
    """The whole document."""
    of_stream = "/v1/models/{model}/{version}"
    return {
        "openapi": "3.1.0",
        "info": {"title": "surefoot", "version": surefoot.__version__},
        "security": [{"bearer": []}],
        "paths": {
            f"{of_stream}/predictions": _post("Store predictions when they are made.", "predictions", "Prediction"),
            f"{of_stream}/labels": _post(
                "Store labels when they come; before their prediction, too.", "labels", "Label"
            ),
            f"{of_stream}/state": _get("Where the model stands."),
            f"{of_stream}/report": _get_report(),
            f"{of_stream}/tally": _get("Their tally, as surefoot.Tally.load reads it.", window=True),
            f"{of_stream}/rows": _get_rows(),
            f"{of_stream}/reference": _put_reference(),
            "/v1/models": _get("The models that the token may read.", of_stream=False),
            "/metrics": _get("Numbers for Prometheus.", of_stream=False, kind="text/plain"),
            "/healthz": _get_open("Whether the process answers."),
            "/readyz": _get_open("Whether the store answers.", "429", "503"),
        },
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}, "schemas": _SCHEMAS},
    }


def _path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": _NAME}


def _post(summary: str, what: str, schema: str) -> dict[str, Any]:
    row = {"$ref": f"#/components/schemas/{schema}"}
    rows = {"type": "array", "items": row, "maxItems": MOST_ROWS}
    either = {"oneOf": [{"type": "object", "required": [what], "properties": {what: rows}}, rows, row]}
    return {
        "post": {
            "summary": summary,
            "parameters": [_path("model"), _path("version")],
            "requestBody": {
                "required": True,
                "content": {JSON: {"schema": either}, LINES: {"schema": row}, ARROW: {"schema": {"type": "string"}}},
            },
            "responses": {
                "200": {
                    "description": "Stored.",
                    "content": {JSON: {"schema": {"$ref": "#/components/schemas/Receipt"}}},
                },
                **_errors("400", "401", "403", "404", "408", "409", "413", "415", "429", "503"),
            },
        }
    }


def _get_report() -> dict[str, Any]:
    found = _get("The report of the labelled rows.", window=True, kind="text/html")
    schema = {"type": "string", "enum": ["html", "json"], "default": "html"}
    found["get"]["parameters"].append({"name": "format", "in": "query", "schema": schema})
    found["get"]["responses"]["200"]["content"][JSON] = {}
    return found


def _get_rows() -> dict[str, Any]:
    found = _get("The last labelled rows whose ids are kept, as JSON lines.", kind=LINES)
    words, kind = "First day or hour in UTC, such as 2026-03-01 or 2026-03-01T14.", {"type": "string"}
    found["get"]["parameters"].append({"name": "since", "in": "query", "schema": kind, "description": words})
    found["get"]["responses"] |= _errors("400")
    return found


def _put_reference() -> dict[str, Any]:
    return {
        "put": {
            "summary": "Keep a tally of labelled rows that the model is compared with, in the place of the one before.",
            "parameters": [_path("model"), _path("version")],
            "requestBody": {
                "required": True,
                "description": "What surefoot assess --save-tally writes.",
                "content": {JSON: {"schema": {"type": "object"}}},
            },
            "responses": {
                "200": {
                    "description": "Stored.",
                    "content": {JSON: {"schema": {"type": "object", "properties": {"rows": {"type": "integer"}}}}},
                },
                **_errors("400", "401", "403", "404", "408", "413", "415", "429", "503"),
            },
        }
    }


def _get_open(summary: str, *errors: str) -> dict[str, Any]:
    """What anybody may ask, without a token."""
    answers = {"200": {"description": "Yes.", "content": {"text/plain": {}}}, **_errors(*errors)}
    return {"get": {"summary": summary, "security": [], "responses": answers}}


def _get(summary: str, *, of_stream: bool = True, window: bool = False, kind: str = JSON) -> dict[str, Any]:
    parameters = [_path("model"), _path("version")] if of_stream else []
    if window:
        parameters += [
            {"name": name, "in": "query", "schema": {"type": "string"}, "description": words}
            for name, words in (
                ("since", "First day or hour in UTC, such as 2026-03-01 or 2026-03-01T14."),
                ("until", "The day or hour before which it ends."),
                ("slice", "One slice alone."),
            )
        ]
    errors = _errors(*["400"] * window, "401", "403", *["404"] * of_stream, "429", "503")
    answers = {"200": {"description": "Found.", "content": {kind: {}}}, **errors}
    return {"get": {"summary": summary, "parameters": parameters, "responses": answers}}


def _errors(*statuses: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Error"}
    return {
        status: {"description": "Refused; nothing changed.", "content": {JSON: {"schema": schema}}}
        for status in statuses
    }
