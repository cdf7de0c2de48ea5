"""The module that Python code of a domain imports: `from rehearsal import tool, ToolError`."""

from .authoring import Context, Environment, ToolError, tool

__all__ = ["Context", "Environment", "ToolError", "tool"]
