# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Generates the API reference from the doc comments of all exported names."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import tenterhook

HEAD = """# The Python SDK

Written by `make sdk-python-generate` from the package itself. The guide is [sdk-python.md](../guide/sdk-python.md).
"""

GROUPS: dict[str, Callable[[Any], bool]] = {
    "The client": lambda item: item is tenterhook.TenterhookClient or item is tenterhook.Pending,
    "Answers": lambda item: item is tenterhook.HookResponse,
    "Claude Agent SDK": lambda item: item is tenterhook.tenterhook_hooks,
    "Events": lambda item: isinstance(item, type) and issubclass(item, tenterhook.HookEvent),
    "Errors": lambda item: isinstance(item, type) and issubclass(item, Exception),
    "Types": lambda item: True,
}


def text() -> str:
    """Content of the page."""
    names = [name for name in tenterhook.__all__ if not name.isupper()]
    parts = [HEAD]
    for title, belongs in GROUPS.items():
        mine = [name for name in names if belongs(getattr(tenterhook, name))]
        names = [name for name in names if name not in mine]
        parts.append(f"## {title}\n")
        parts += [part for name in mine for part in _item(name, getattr(tenterhook, name))]
    return "\n".join(parts)


def _item(name: str, item: Any) -> Iterator[str]:
    if inspect.isfunction(item):
        yield f"### `{name}{_signature(item)}`\n"
        yield _doc(item.__doc__)
        return
    yield f"### `{name}`\n"
    if not isinstance(item, type) or not item.__module__.startswith("tenterhook"):
        yield _alias(name)
        return
    if own := item.__dict__.get("__doc__"):
        yield _doc(own)
    if item is tenterhook.TenterhookClient:
        yield f"#### `TenterhookClient{_signature(item.__init__, skip_self=True)}`\n"
        yield _doc(item.__init__.__doc__)
    yield from _fields(item)
    for method, function in _methods(item):
        waits = "async " if inspect.iscoroutinefunction(function) else ""
        yield f"#### `{waits}{method}{_signature(function, skip_self=True)}`\n"
        yield _doc(function.__doc__)


def _fields(cls: type) -> Iterator[str]:
    annotations = [name for name in inspect.get_annotations(cls) if not name.isupper()]
    if not annotations:
        return
    docs = _docs(inspect.getmodule(cls)).get(cls.__name__, {})
    if dataclasses.is_dataclass(cls):
        annotations = [field.name for field in dataclasses.fields(cls) if field.name in annotations]
    yield "| field | type | |\n|---|---|---|"
    for name in annotations:
        kind = str(_written(cls.__annotations__[name])).replace("|", "\\|")
        yield f"| `{name}` | `{kind}` | {docs.get(name, '')} |"
    yield ""


def _methods(cls: type) -> Iterator[tuple[str, Any]]:
    seen = [vars(cls)]
    if cls is tenterhook.TenterhookClient:
        seen.insert(0, vars(cls.__mro__[1]))
    for members in seen:
        for name, member in members.items():
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if not name.startswith("_") and inspect.isfunction(function):
                yield name, function


def _signature(function: Any, *, skip_self: bool = False) -> str:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if skip_self and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    parameters = [each.replace(annotation=_Plain(each.annotation)) for each in parameters]
    returns = inspect.Signature.empty if signature.return_annotation == "None" else _Plain(signature.return_annotation)
    return str(signature.replace(parameters=parameters, return_annotation=returns))


class _Plain:
    """An annotation that is shown as written, without quotes."""

    def __init__(self, annotation: Any) -> None:
        self._annotation = annotation

    def __repr__(self) -> str:
        return _written(self._annotation)


def _written(annotation: Any) -> str:
    return getattr(annotation, "__forward_arg__", None) or str(annotation)


def _alias(name: str) -> str:
    for module in _modules():
        if about := _docs(module).get("", {}).get(name):
            return about + "\n"
    return ""


def _modules() -> Iterator[ModuleType]:
    return (module for name, module in vars(tenterhook).items() if isinstance(module, ModuleType) and module.__file__)


@functools.cache
def _docs(module: ModuleType | None) -> dict[str, dict[str, str]]:
    """Doc comments of fields by class; those of module-level names are under the empty name."""
    if module is None:
        return {}
    tree = ast.parse(inspect.getsource(module))
    classes = {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}
    return {name: dict(_texts(body)) for name, body in {"": tree.body, **classes}.items()}


def _texts(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for line, after in itertools.pairwise(body):
        target = line.target if isinstance(line, ast.AnnAssign) else None
        if isinstance(line, ast.Assign):
            target = line.targets[0]  # type: ignore[assignment]
        match target, after:
            case ast.Name(name), ast.Expr(ast.Constant(str(about))):
                yield name, inspect.cleandoc(about)


def _doc(doc: str | None) -> str:
    about = inspect.cleandoc(doc or "")
    for section in ("Args:", "Raises:"):
        if section in about:
            before, _, after = about.partition(section + "\n")
            about = before + _list(after)
    return about + "\n"


def _list(section: str) -> str:
    """A section of a doc comment as a list."""
    items: list[str] = []
    for line in textwrap.dedent(section).splitlines():
        if line.startswith(" "):
            items[-1] += " " + line.strip()
        else:
            name, _, about = line.partition(": ")
            items.append(f"- `{name}`: {about}")
    return "\n".join(items)
