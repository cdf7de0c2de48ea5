"""Function documents in the format of BFCL, which ACEBench uses too."""

from __future__ import annotations

from typing import Any

from .description import BridgeError

TYPES = {
    "integer": ("integer", "byte", "short", "long", "Bigint"),
    "number": ("number", "float", "double"),
    "boolean": ("boolean", "bool"),
    "array": ("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack"),
    "object": ("dict", "object", "HashMap", "Hashtable"),
}
"""The types of JSON Schema, each with the names that function documents use for it. Any other name means a text."""


def tool_described(said: dict[str, Any], place: str, hint: str = "") -> dict[str, Any]:
    """Converts a function document to a tool.

    Args:
        said: The document.
        place: The location of the document, for error messages.
        hint: A text to add to its description.
    """
    try:
        return {
            "name": said["name"],
            "description": said["description"] + hint,
            "parameters": schema(said["parameters"]),
            "effect": "write",
            "owner": "agent",
        }
    except (KeyError, TypeError) as error:
        raise BridgeError("import/layout", f"{place}: the function lacks or garbles {error}") from error


def schema(said: Any) -> Any:
    """Returns a parameter as the JSON Schema that BFCL shows to models."""
    if not isinstance(said, dict):
        return said
    kind = said.get("type", "string")
    made = {**said, "type": next((name for name, known in TYPES.items() if kind in known), "string")}
    if kind == "float":
        made["format"] = "float"
        made["description"] = said.get("description", "") + " This is a float type value."
    if isinstance(said.get("properties"), dict):
        made["properties"] = {name: schema(each) for name, each in said["properties"].items()}
    if "items" in said:
        made["items"] = schema(said["items"])
    return made
