"""Python by its syntax tree: classes, functions, methods and assignments, nested by dots."""

import ast
from collections.abc import Iterator

from inside_torch.citations.proof import one_of

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
SECONDARY = {"overload", "setter", "deleter", "getter", "register"}  # decorators of one name's further definitions


def names(node: ast.AST) -> list[str]:
    """The names that a statement binds; a function that only adds to one of the same name binds none."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        decorators = {getattr(one, "attr", getattr(one, "id", "")) for one in node.decorator_list}
        return [] if decorators & SECONDARY else [node.name]
    bound = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [n.id for t in bound for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def definitions(scope: ast.AST, outer: str = "") -> Iterator[tuple[str, int]]:
    """Dotted name and line of everything that is defined or assigned at module or class level."""
    for node in ast.iter_child_nodes(scope):
        yield from ((outer + name, node.lineno) for name in names(node))
        if not isinstance(node, FUNCTIONS):
            yield from definitions(node, f"{outer}{node.name}." if isinstance(node, ast.ClassDef) else outer)


def find(content: str, symbol: str, where: str) -> int:
    """The line that defines `symbol`. Raises UnprovenError."""
    return one_of(list(definitions(ast.parse(content))), symbol, where)
