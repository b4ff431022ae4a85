"""Python by its syntax tree: classes, functions, methods and assignments, nested by dots."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inside_torch.citations.proof import only

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
SECONDARY = ("overload", "setter", "deleter", "getter", "register")  # decorators of one name's further definitions


def is_secondary(node: ast.stmt) -> bool:
    """Whether a function only adds to one of the same name, as @overload and @x.setter do."""
    names = (getattr(d, "attr", getattr(d, "id", "")) for d in getattr(node, "decorator_list", ()))
    return any(name in SECONDARY for name in names)


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of one scope, those under if, try, with and loops included."""
    for node in body:
        yield node
        if not isinstance(node, Definition):
            for field in ("body", "orelse", "finalbody"):
                yield from statements(getattr(node, field, []))
            for handler in getattr(node, "handlers", []):
                yield from statements(handler.body)


def targets(node: ast.stmt) -> list[str]:
    """The names that a statement binds."""
    if isinstance(node, Definition):
        return [] if is_secondary(node) else [node.name]
    bound = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [n.id for t in bound for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def definitions(body: list[ast.stmt], outer: str = "") -> Iterator[tuple[str, int]]:
    """Dotted name and line of everything that is defined or assigned at module or class level."""
    for node in statements(body):
        for name in targets(node):
            yield outer + name, node.lineno
            if isinstance(node, ast.ClassDef):
                yield from definitions(node.body, f"{outer}{name}.")


def find(content: str, symbol: str, where: str) -> int:
    """The line that defines `symbol`. Raises UnprovenError."""
    known = list(definitions(ast.parse(content).body))
    return only([one for one in known if one[0] == symbol], symbol, where, (name for name, _ in known))
