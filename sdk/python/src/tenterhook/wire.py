# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Dataclasses from JSON and back.

Python has `session_id` where the wire has `sessionId`. A field that is called otherwise there, or is an object
itself, says so in its metadata.
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
    """Metadata of a field that is called otherwise on the wire."""
    return {"key": name}


def of(cls: type) -> Metadata:
    """Metadata of a field that is an object; anything else that comes counts as an empty one."""
    return {"reader": lambda value: read(cls, value if isinstance(value, Mapping) else {})}


def list_of(cls: type) -> Metadata:
    """Metadata of a field that is a list of objects; anything else that comes counts as an empty one."""

    def items(value: Any) -> list[Any]:
        return [read(cls, item) for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []

    return {"reader": items}


LOCAL: Metadata = {"local": True}
"""Metadata of a field that never travels by itself."""


def read(cls: type[T], data: Mapping[str, Any], **more: Any) -> T:
    """An instance of `cls` of what is there; fields that are missing or null have their defaults."""
    for name, wire, reader in _fields(cls):  # type: ignore[arg-type]
        value = data.get(wire)
        if value is not None:
            more[name] = value if reader is None else reader(value)
    return cls(**more)


def write(value: Any) -> Any:
    """JSON of a value. What is not known is left out."""
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
