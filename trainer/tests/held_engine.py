"""An engine that plays only the first rollouts, for tests that kill it: `held_engine.py 3 COMMAND...`.

It passes requests on to the engine that the command starts, except those for further rollouts, which it never answers.
"""

import json
import subprocess
import sys

if __name__ == "__main__":
    left = int(sys.argv[1])
    engine = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, text=True)
    assert engine.stdin is not None
    for line in sys.stdin:
        left -= json.loads(line)["method"] == "rollout"
        if left >= 0 or json.loads(line)["method"] != "rollout":
            engine.stdin.write(line)
            engine.stdin.flush()
    engine.stdin.close()
    sys.exit(engine.wait())
