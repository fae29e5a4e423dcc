"""Schemas of probe types that a program declares."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping

from oasis import _native


def schema_of(declared: Mapping[str, object]) -> tuple[uuid.UUID, str]:
    """Check a schema, and return its identity and its JSON with that.

    Without `uuid` the identity is computed from all other members: programs with the same schema have the same type.
    Raises ValueError for names, units and limits that PDL does not have.
    """
    schema = _native.declared_schema(json.dumps(declared))
    return uuid.UUID(json.loads(schema)["uuid"]), schema
