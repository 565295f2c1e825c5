"""Which operators a backend has kernels for, as recorded where its torch package was loaded.

The dispatcher of a process that has loaded the package knows this itself; a record stands in for it
on machines without the package.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accelhal.errors import UsageError, described

DEFAULT_OVERLOAD = "default"
"""torch's word for the overload of an operator that has no name of its own."""


@dataclass(frozen=True)
class OperatorRecord:
    """The kernels of one release of a backend's torch package.

    Attributes:
        package: the package that brings the kernels ("torch").
        version: its release.
        torch: the release of torch it was recorded with.
        source: how the record was made.
        fallback: whether the package has registered a fallback for operators without a kernel.
        kernels: operators with a kernel of the backend, as "aten::add.Tensor".
        conditional: those among them whose kernel computes on the host in some cases, for example
            with some releases of the vendor's toolkit.
    """

    package: str
    version: str
    torch: str
    source: str
    fallback: bool
    kernels: frozenset[str]
    conditional: frozenset[str] = frozenset()


@dataclass(frozen=True)
class OperatorSupport:
    """What a plugin knows of its backend's operators: the value of its extension "operators".

    Attributes:
        records: reads the plugin's records, newest release first.
        fallback_on_device: whether the fallback for operators without a kernel computes on the
            device; else it copies the operands to the host and computes there.
        refused: operators that the fallback refuses.
    """

    records: Callable[[], tuple[OperatorRecord, ...]] = tuple
    fallback_on_device: bool = False
    refused: frozenset[str] = frozenset()


def read_record(path: Path) -> OperatorRecord:
    """Read a record that `record_text` wrote.

    Raises:
        UsageError: the file cannot be read, or is not a record.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return OperatorRecord(
            package=_text(document, "package"),
            version=_text(document, "version"),
            torch=_text(document, "torch"),
            source=_text(document, "source"),
            fallback=_flag(document, "fallback"),
            kernels=frozenset(_full_names(document["kernels"])),
            conditional=frozenset(_full_names(document.get("conditional", {}))),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path} is not a record of operators: {described(error)}",
            operation="read record",
            hint="make one with `python -m accelhal.operators.record` where the backend works",
        ) from error


def read_records(folder: Path) -> tuple[OperatorRecord, ...]:
    """The records in a folder, one a JSON file, newest release first.

    Raises:
        UsageError: a file cannot be read, or is not a record.
    """
    records = map(read_record, folder.glob("*.json"))
    return tuple(sorted(records, key=_numbers_of_release, reverse=True))


def record_text(record: OperatorRecord) -> str:
    """The record as a JSON document, an operator a line so that releases can be compared."""
    head = {key: getattr(record, key) for key in ("package", "version", "torch", "source")}
    head["fallback"] = record.fallback
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    lines += [_namespaces("kernels", record.kernels)]
    if record.conditional:
        lines.append(_namespaces("conditional", record.conditional))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _numbers_of_release(record: OperatorRecord) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", record.version)]


def _text(document: Mapping[str, Any], key: str) -> str:
    value = document[key]
    if not isinstance(value, str):
        raise TypeError(f"{key} is not a string")
    return value


def _flag(document: Mapping[str, Any], key: str) -> bool:
    value = document[key]
    if not isinstance(value, bool):
        raise TypeError(f"{key} is not true or false")
    return value


def _full_names(namespaces: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    for namespace, operators in namespaces.items():
        for operator, overloads in operators.items():
            for overload in overloads.split():
                suffix = "" if overload == DEFAULT_OVERLOAD else f".{overload}"
                yield f"{namespace}::{operator}{suffix}"


def _namespaces(key: str, names: Iterable[str]) -> str:
    tree: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in sorted(names):
        namespace, _, rest = name.partition("::")
        operator, _, overload = rest.partition(".")
        tree[namespace][operator].append(overload or DEFAULT_OVERLOAD)
    parts = []
    for namespace, operators in tree.items():
        lines = [
            f"      {json.dumps(operator)}: {json.dumps(' '.join(overloads))}"
            for operator, overloads in operators.items()
        ]
        parts.append(f"    {json.dumps(namespace)}: {{\n" + ",\n".join(lines) + "\n    }")
    inner = "{\n" + ",\n".join(parts) + "\n  }" if parts else "{}"
    return f"  {json.dumps(key)}: {inner}"
