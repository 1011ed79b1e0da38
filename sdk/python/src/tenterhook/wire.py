# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Converts dataclasses to and from JSON.

Python uses `session_id` where JSON uses `sessionId`. A field's metadata can specify a different JSON key, or the class
of a nested object.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
Metadata = Mapping[str, Any]
Reader = Callable[[Any], Any]


def key(name: str) -> Metadata:
    """Metadata of a field that has a different key in JSON."""
    return {"key": name}


def of(cls: type) -> Metadata:
    """Metadata of a field that is an object; any other value is read as an empty object."""
    return {"reader": lambda value: read(cls, value if isinstance(value, Mapping) else {})}


def list_of(cls: type) -> Metadata:
    """Metadata of a field that is a list of objects; any other value is read as an empty list."""

    def items(value: Any) -> list[Any]:
        return [read(cls, item) for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []

    return {"reader": items}


LOCAL: Metadata = {"local": True}
"""Metadata of a field that is not part of the JSON."""


def read(cls: type[T], data: Mapping[str, Any], **more: Any) -> T:
    """Creates an instance of `cls` from JSON; missing or null fields have their defaults."""
    for name, wire, reader in _fields(cls):  # type: ignore[arg-type]
        value = data.get(wire)
        if value is not None:
            more[name] = value if reader is None else reader(value)
    return cls(**more)


def write(value: Any) -> Any:
    """Converts a value to JSON. Unset fields are omitted."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((wire, getattr(value, name)) for name, wire, _ in _fields(type(value)))
        return {wire: write(item) for wire, item in fields if item is not None}
    if isinstance(value, (list, tuple)):
        return [write(item) for item in value]
    if isinstance(value, Mapping):
        return {name: write(item) for name, item in value.items()}
    return value


@functools.cache
def _fields(cls: Any) -> tuple[tuple[str, str, Reader | None], ...]:
    return tuple(
        (field.name, field.metadata.get("key", _camel(field.name)), field.metadata.get("reader"))
        for field in dataclasses.fields(cls)
        if not field.metadata.get("local")
    )


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
