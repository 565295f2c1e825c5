"""Small faults put into a module's source one at a time, as a slip of its writer would."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_UNTOUCHED_FIELDS = frozenset({"annotation", "returns", "bases", "type_comment", "format_spec"})
"""What Python does not run here, and formats, which fail in any run."""

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
"""The comparison that a slip would make of another: off by one for an order, else the contrary."""


@dataclass(frozen=True)
class Mutant:
    """One fault.

    Attributes:
        place: the function or method it is in, "module" outside of any.
        change: what was changed, in words and source.
        source: the whole module with it.
    """

    place: str
    change: str
    source: str

    def __str__(self) -> str:
        return f"{self.place}: {self.change}"


def mutants(source: str) -> Iterator[Mutant]:
    """Every fault of a module's source, each once, in the order of the source."""
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    named: Counter[str] = Counter()
    for place, put, node in _slots(tree, "module"):
        for change, faulty in _faults(node):
            put(faulty)
            written = ast.unparse(ast.fix_missing_locations(tree))
            put(node)
            if written not in seen:
                seen.add(written)
                named[f"{place}: {change}"] += 1
                number = named[f"{place}: {change}"]
                yield Mutant(place, change if number == 1 else f"{change} [{number}]", written)


_Put = Callable[[ast.AST], None]


def _slots(parent: ast.AST, place: str) -> Iterator[tuple[str, _Put, ast.AST]]:
    """(place, function that puts another node there, node) of every node that runs."""
    for name, value in ast.iter_fields(parent):
        if name in _UNTOUCHED_FIELDS:
            continue
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST) or _says_nothing_to_the_caller(node):
                continue
            inside = _inside(node, place)
            put = _put_in(value, index) if isinstance(value, list) else _put_as(parent, name)
            yield inside, put, node
            yield from _slots(node, inside)


def _put_in(siblings: list[ast.AST], index: int) -> _Put:
    def put(node: ast.AST) -> None:
        siblings[index] = node

    return put


def _put_as(parent: ast.AST, name: str) -> _Put:
    return lambda node: setattr(parent, name, node)


def _inside(node: ast.AST, place: str) -> str:
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return place
    return node.name if place == "module" else f"{place}.{node.name}"


def _says_nothing_to_the_caller(node: ast.AST) -> bool:
    """Imports, docstrings, and the words of errors and of reasons why there is no location."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Raise)):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("reason", "seen"):
        return True
    return isinstance(node, ast.Call) and ast.unparse(node).startswith("Location(None,")


def _faults(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """(what it is, the faulty node) of everything that can be wrong with one node."""
    if isinstance(node, ast.ClassDef) and node.bases:
        yield from _without_an_override(node)
    elif isinstance(node, ast.FunctionDef):
        yield from _swapped_parameters(node)
    elif isinstance(node, ast.Call):
        yield from _faulty_calls(node)
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node)
    elif isinstance(node, ast.stmt):
        yield from _faulty_statements(node)
    elif isinstance(node, ast.expr):
        yield from _faulty_expressions(node)


def _without_an_override(node: ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
    for index, method in enumerate(node.body):
        if isinstance(method, ast.FunctionDef) and method.name != "__init__":
            faulty = copy.deepcopy(node)
            faulty.body[index] = ast.Pass()
            yield f"no override of {method.name}", faulty


def _swapped_parameters(node: ast.FunctionDef) -> Iterator[tuple[str, ast.AST]]:
    names = [parameter.arg for parameter in node.args.args]
    first = 1 if names[:1] in (["self"], ["cls"]) else 0
    for index in range(first, len(names) - 1):
        faulty = copy.deepcopy(node)
        faulty.args.args[index : index + 2] = reversed(faulty.args.args[index : index + 2])
        yield f"parameters {names[index]} and {names[index + 1]} swapped", faulty


def _faulty_calls(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    shown = ast.unparse(node)
    for index in range(len(node.args) - 1):
        faulty = copy.deepcopy(node)
        faulty.args[index : index + 2] = reversed(faulty.args[index : index + 2])
        yield f"arguments {index} and {index + 1} swapped in {shown}", faulty
    for index, keyword in enumerate(node.keywords):
        if keyword.arg is None:
            continue
        faulty = copy.deepcopy(node)
        del faulty.keywords[index]
        yield f"{keyword.arg}= dropped from {shown}", faulty
        faulty = copy.deepcopy(node)
        faulty.keywords[index].arg = f"{keyword.arg}_"
        yield f"{keyword.arg}= renamed in {shown}", faulty


def _other_constants(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    others: tuple[bool | float | str, ...] = ()
    match node.value:
        case bool():
            others = (not node.value,)
        case int() | float():
            others = (node.value + 1, node.value * 1000)
        case str():
            others = (f"{node.value}x",)
    for other in others:
        if other != node.value:
            yield f"{node.value!r} became {other!r}", ast.Constant(other)


def _faulty_statements(node: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    shown = ast.unparse(node).partition("\n")[0]
    match node:
        case ast.If():
            yield f"not handled: {shown}", ast.If(ast.Constant(False), node.body, node.orelse)
            if not isinstance(node.test, (ast.Compare, ast.UnaryOp)):  # those have faults enough
                faulty = copy.copy(node)
                faulty.test = ast.UnaryOp(ast.Not(), node.test)
                yield f"negated: {shown}", faulty
        case ast.With():
            yield f"not entered: {shown}", ast.If(ast.Constant(True), node.body, [])
        case ast.For():
            yield f"not done: {shown}", ast.Pass()
        case ast.Expr() | ast.AugAssign():
            yield f"not done: {shown}", ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield f"not done: {shown}", ast.Pass()


def _faulty_expressions(node: ast.expr) -> Iterator[tuple[str, ast.AST]]:
    shown = ast.unparse(node)
    match node:
        case ast.IfExp():
            yield f"always the first of {shown}", node.body
            yield f"always the second of {shown}", node.orelse
        case ast.BoolOp():
            for value in node.values:
                yield f"only {ast.unparse(value)} of {shown}", value
            swapped = (
                (ast.And(), "and for or")
                if isinstance(node.op, ast.Or)
                else (ast.Or(), "or for and")
            )
            yield f"{swapped[1]} in {shown}", ast.BoolOp(swapped[0], node.values)
        case ast.Compare(ops=[operator]) if type(operator) in _OPPOSITE:
            faulty = ast.Compare(node.left, [_OPPOSITE[type(operator)]()], node.comparators)
            yield f"{ast.unparse(faulty)} for {shown}", faulty
        case ast.BinOp():
            yield f"only {ast.unparse(node.left)} of {shown}", node.left
        case ast.UnaryOp(op=ast.Not()):
            yield f"not negated: {shown}", node.operand
        case ast.Dict():
            for index in range(len(node.keys)):
                faulty_dict = ast.Dict(list(node.keys), list(node.values))
                del faulty_dict.keys[index], faulty_dict.values[index]
                yield f"entry {index} dropped from {shown}", faulty_dict
        case ast.Set() | ast.Tuple(ctx=ast.Load()):
            for index in range(len(node.elts)):
                faulty_elements = copy.copy(node)
                faulty_elements.elts = [*node.elts[:index], *node.elts[index + 1 :]]
                if faulty_elements.elts:
                    yield f"element {index} dropped from {shown}", faulty_elements
        case ast.Name(id="all" | "any"):
            other_name = "any" if node.id == "all" else "all"
            yield f"{other_name} for {node.id}", ast.Name(other_name, ast.Load())
