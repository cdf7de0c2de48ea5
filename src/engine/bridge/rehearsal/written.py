"""Whether a function changes what it is given, read from its source and never by calling it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

CHANGING = frozenset(
    {
        "add",
        "append",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    }
)
"""Methods that change the container they are called on."""
REACHING = frozenset({"get", "items", "values"})
"""Methods whose result can give access to the content of the container they are called on."""
PASSING = frozenset({"enumerate", "filter", "iter", "list", "max", "min", "next", "reversed", "sorted", "tuple", "zip"})
"""Functions whose result contains their arguments."""
HARMLESS = frozenset(
    {
        "abs",
        "all",
        "any",
        "bool",
        "copy",
        "count",
        "deepcopy",
        "dumps",
        "endswith",
        "float",
        "format",
        "index",
        "int",
        "isinstance",
        "join",
        "keys",
        "len",
        "lower",
        "range",
        "repr",
        "round",
        "set",
        "split",
        "startswith",
        "str",
        "strip",
        "sum",
        "upper",
    }
)
"""Functions and methods that change nothing, and whose result gives no access to the data."""


def uses(function: Callable[..., Any], parameter: str) -> bool:
    """Whether a function uses its parameter at all."""
    tree = source_of(function)
    return tree is None or any(isinstance(node, ast.Name) and node.id == parameter for node in ast.walk(tree))


def writes(function: Callable[..., Any], parameter: str) -> bool:
    """Whether a function may change the content of its parameter; true if its source is not available."""
    tree = source_of(function)
    if tree is None:
        return True
    reading = Reading(parameter)
    # What is assigned further down may be looked at further up, in a loop.
    while True:
        known = len(reading.names)
        reading.visit(tree)
        if reading.found or len(reading.names) == known:
            return reading.found


def source_of(function: Callable[..., Any]) -> ast.AST | None:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    return ast.Module(body=tree.body[0].body, type_ignores=[]) if hasattr(tree.body[0], "body") else None  # pyright: ignore


class Reading(ast.NodeVisitor):
    """Follows the names in a function through which the content of a parameter can be reached."""

    def __init__(self, parameter: str) -> None:
        self.names = {parameter}
        self.found = False

    def leads(self, node: ast.AST | None) -> bool:
        """Whether what an expression gives is, or holds, a part of the parameter."""
        if isinstance(node, ast.Name):
            return node.id in self.names
        if isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
            return self.leads(node.value)
        if isinstance(node, (ast.List, ast.Tuple)):
            return any(map(self.leads, node.elts))
        if isinstance(node, (ast.BoolOp, ast.IfExp)):
            return any(self.leads(each) for each in ast.iter_child_nodes(node))
        if isinstance(node, ast.NamedExpr):
            return self.leads(node.value)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.leads(node.elt)
        if isinstance(node, ast.Call):
            return self._call_leads(node)
        return False

    def _call_leads(self, node: ast.Call) -> bool:
        if isinstance(node.func, ast.Attribute) and node.func.attr in REACHING | CHANGING:
            return self.leads(node.func.value)
        return named(node) not in HARMLESS and any(map(self.leads, node.args))

    def _bind(self, target: ast.AST, is_led: bool) -> None:
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            self.found = self.found or self.leads(target.value)
        elif is_led:
            self.names |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
        elif isinstance(target, (ast.Tuple, ast.List)):
            for each in target.elts:
                self._bind(each, False)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            self._bind(target, self.leads(node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.generic_visit(node)
        self._bind(node.target, self.leads(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        self._bind(node.target, False)
        if isinstance(node.target, ast.Name) and node.target.id in self.names:
            # A list that is added to is changed in its place.
            self.found = True

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        self._bind(node.target, self.leads(node.value))

    def visit_For(self, node: ast.For) -> None:
        self._bind(node.target, self.leads(node.iter))
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._bind(node.target, self.leads(node.iter))
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._bind(target, False)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else None
        if method in CHANGING and self.leads(node.func.value):  # pyright: ignore
            self.found = True
        # Whatever else is handed a part of the parameter may change it.
        is_known = named(node) in HARMLESS | PASSING | REACHING | CHANGING
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if not is_known and any(map(self.leads, given)):
            self.found = True


def named(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
