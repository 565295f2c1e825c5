"""What torch itself declares of its C++ binding: torch/_C/__init__.pyi, read as a syntax tree."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path

import torch


@dataclass(frozen=True)
class Declaration:
    """Parameter names of functions and methods, and the annotated fields of classes."""

    functions: dict[str, list[str]] = field(default_factory=dict)
    methods: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    fields: dict[str, set[str]] = field(default_factory=dict)


def read_declaration() -> Declaration:
    """The declaration that this torch ships."""
    path = Path(torch.__file__).parent / "_C" / "__init__.pyi"
    found = Declaration()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.functions[node.name] = _parameters(node)
        elif isinstance(node, ast.ClassDef):
            found.methods[node.name] = {
                each.name: _parameters(each)
                for each in node.body
                if isinstance(each, ast.FunctionDef)
            }
            found.fields[node.name] = {
                each.target.id
                for each in node.body
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            }
    return found


def _parameters(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return [name for name in names if name not in ("self", "cls")]
