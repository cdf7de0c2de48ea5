"""Entry of the bridge: serves the tools of a domain, or an existing environment, on standard input and output."""

import json
import sys

if sys.version_info < (3, 10):
    # Old syntax only: this has to run wherever somebody's `python3` leads.
    found = "%d.%d" % (sys.version_info[0], sys.version_info[1])
    text = "%s is Python %s, but tools in Python need 3.10 or newer" % (sys.executable, found)
    sys.stdout.write(json.dumps({"id": 0, "error": {"code": "python/old", "message": text}}) + "\n")
    sys.exit(2)

sys.stdout.write(json.dumps({"id": 0, "python": True}) + "\n")
sys.stdout.flush()

from rehearsal.serving import main  # noqa: E402

main()
