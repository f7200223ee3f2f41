"""The OpenAPI 3.1 document of the service, made from the shapes that read its requests."""

from typing import Final

import msgspec

from agentic_os import __version__
from agentic_os.witness.protocol.json import (
    BODY_BYTES,
    BookmarkShape,
    ErrorShape,
    HealthShape,
    KeyHashShape,
    ReceiptShape,
    StatusShape,
)

_SHAPES: Final = (
    BookmarkShape,
    ReceiptShape,
    ErrorShape,
    StatusShape,
    KeyHashShape,
    HealthShape,
)
_SIZE_PATTERN: Final = "^(0|[1-9][0-9]*)\n$"


def openapi_document(*, name: str) -> bytes:
    """Return the document as JSON; ``name`` is the witness's."""
    _, components = msgspec.json.schema_components(
        _SHAPES, ref_template="#/components/schemas/{name}"
    )
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "agentic-os witness",
            "version": __version__,
            "summary": f"Witness {name}: detects rollback, truncation and forks from hashes.",
        },
        "paths": {
            "/witness/bookmark": {"post": _bookmark()},
            "/add-checkpoint": {"post": _add_checkpoint()},
            "/{origin_sha256}/checkpoint": {"get": _checkpoint()},
            "/status": {"get": _read("status", "Smallest advance.", _json("StatusShape"))},
            "/witness/pubkey": {"get": _read("receiptKey", "Receipt key envelope.", _object())},
            "/witness/pubkey/hash": {
                "get": _read("receiptKeyHash", "Its hash.", _json("KeyHashShape"))
            },
            "/witness/pubkey/manifest": {
                "get": _read("manifest", "What the operator's root says of it.", _object())
            },
            "/genesis/pubkey": {
                "get": _read("root", "Public half of the operator's root.", _object())
            },
            "/healthz": {
                "get": {
                    **_read("health", "Whether it signs.", _json("HealthShape")),
                    "responses": {
                        "200": {"description": "signing", "content": _json("HealthShape")},
                        "503": {"description": "frozen", "content": _json("HealthShape")},
                    },
                }
            },
            "/metrics": {"get": _read("metrics", "Prometheus text.", _text())},
            "/openapi.json": {"get": _read("openapi", "This document.", _object())},
            "/": {"get": _read("keyPage", "Who this witness is.", _text())},
        },
        "components": {"schemas": components},
    }
    return msgspec.json.encode(document)


def _bookmark() -> dict[str, object]:
    refusals = {
        "400": "malformed",
        "401": "a signature does not verify",
        "403": "registration is closed",
        "408": "the body took too long",
        "409": "rollback, fork, missing or failing proof, taken origin, cadence",
        "413": f"a body above {BODY_BYTES} bytes",
        "429": "too many requests",
        "503": "the storage failed or the clock went back: nothing was signed",
    }
    return {
        "operationId": "bookmark",
        "summary": "Bookmark the head of an identity's ledger (AII OS, with proof extension).",
        "requestBody": {"required": True, "content": _json("BookmarkShape")},
        "responses": {
            "200": {"description": "advanced, or repeated", "content": _json("ReceiptShape")},
            "201": {"description": "the first bookmark", "content": _json("ReceiptShape")},
            **{
                status: {"description": meaning, "content": _json("ErrorShape")}
                for status, meaning in refusals.items()
            },
        },
    }


def _add_checkpoint() -> dict[str, object]:
    refusals = {
        "400": "malformed, or the old size is larger than the checkpoint's",
        "403": "no signature by a trusted key",
        "404": "unknown origin",
        "408": "the body took too long",
        "413": f"a body above {BODY_BYTES} bytes",
        "422": "the checkpoint does not extend the one cosigned last",
        "429": "too many requests",
        "503": "the storage failed or the clock went back: nothing was signed",
    }
    return {
        "operationId": "addCheckpoint",
        "summary": "Cosign a checkpoint (c2sp.org/tlog-witness).",
        "requestBody": {"required": True, "content": _text()},
        "responses": {
            "200": {"description": "signature lines", "content": _text()},
            "409": {
                "description": "another size was cosigned last: this one",
                "content": {
                    "text/x.tlog.size": {"schema": {"type": "string", "pattern": _SIZE_PATTERN}}
                },
            },
            **{
                status: {"description": meaning, "content": _text()}
                for status, meaning in refusals.items()
            },
        },
    }


def _checkpoint() -> dict[str, object]:
    return {
        "operationId": "checkpoint",
        "summary": "The newest cosigned checkpoint of an origin.",
        "parameters": [
            {
                "name": "origin_sha256",
                "in": "path",
                "required": True,
                "description": "hex SHA-256 of the origin",
                "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            }
        ],
        "responses": {
            "200": {"description": "a note with its cosignature", "content": _text()},
            "404": {"description": "nothing was cosigned", "content": _text()},
            "503": {"description": "the storage cannot be read", "content": _text()},
        },
    }


def _read(operation: str, summary: str, content: dict[str, object]) -> dict[str, object]:
    return {
        "operationId": operation,
        "summary": summary,
        "responses": {"200": {"description": summary, "content": content}},
    }


def _json(shape: str) -> dict[str, object]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{shape}"}}}


def _object() -> dict[str, object]:
    return {"application/json": {"schema": {"type": "object"}}}


def _text() -> dict[str, object]:
    return {"text/plain": {"schema": {"type": "string"}}}
