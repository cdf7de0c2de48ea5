"""The desk of the fault suite in verifiers: a taskset with an MCP server, played by its own program of `vf-eval`.

Run with a Python that has verifiers: verifiers_desk.py PLAN. Prints a JSON line for each rollout.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mcp
import verifiers.v1 as vf
from mcp.client.streamable_http import streamable_http_client

PLAN = json.loads(Path(os.environ.get("DESK_PLAN") or sys.argv[1]).read_text(encoding="utf-8"))


class DeskData(vf.TaskData):
    case: str


class VisitToolset(vf.Toolset[vf.ToolsetConfig]):
    TOOL_PREFIX = None


class DeskTask(vf.Task[DeskData]):
    @classmethod
    def toolsets(cls, config: vf.TaskConfig) -> list[vf.Toolset]:
        return [VisitToolset(vf.ToolsetConfig(url=PLAN["tools"]))]

    @vf.reward
    async def is_visited(self) -> float:
        async with mcp.Client(streamable_http_client(PLAN["tools"])) as client:
            result = await client.call_tool("visits", {"case": self.data.case})
        if result.is_error:
            raise RuntimeError(f"the reader failed: {result.content}")
        return float(self.data.case in json.loads(result.content[0].text))


class DeskTaskset(vf.Taskset[DeskTask, vf.TasksetConfig]):
    def load(self) -> Iterator[DeskTask]:
        for case in PLAN["cases"]:
            yield DeskTask(DeskData(name=case, case=case, prompt=f"Settle {case}."), self.config.task)


__all__ = ["DeskTaskset"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "model": "m",
            "client.base-url": f"{PLAN['models']}/agent/v1",
            "client.timeout.read": PLAN["limit"],
            "env.agent.harness.id": "null",
            "env.agent.runtime.type": "subprocess",
            "env.agent.max-turns": PLAN["turns"],
            "env.agent.timeout.rollout": PLAN["rolloutLimit"],
            "env.agent.timeout.scoring": PLAN["rolloutLimit"],
            "max-concurrent": PLAN["concurrency"],
            "output-dir": folder,
            "run.dir": "run",
        }
        flags = [part for name, value in settings.items() for part in (f"--{name}", str(value))]
        program = str(Path(sys.executable).with_name("vf-eval"))
        command = [program, "verifiers_desk", *flags, "--no-rich", "--no-push"]
        here = str(Path(__file__).parent)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "DESK_PLAN": str(Path(sys.argv[1]).absolute()), "PYTHONPATH": here, "PATH": path}
        ended = subprocess.run(command, cwd=folder, env=environment, stdout=sys.stderr)
        traces = Path(folder, "run", "traces.jsonl")
        if traces.exists():
            for line in traces.read_text(encoding="utf-8").splitlines():
                episode = json.loads(line)
                for trace in episode["traces"]:
                    print(json.dumps(outcome_of(trace, episode["errors"])))
        sys.exit(ended.returncode)


def outcome_of(trace: dict, more: list[dict]) -> dict:
    """Returns the framework's own report on a rollout: its trainers and its resume read `ok`."""
    errors = [
        f"{error['type']}: {error['message']}\n{error.get('traceback') or ''}" for error in [*trace["errors"], *more]
    ]
    return {
        "case": trace["task"]["data"]["case"],
        # As Trace.reward has it: a reward that was not computed counts nothing.
        "reward": sum(each["score"] * each["weight"] for each in trace["rewards"].values() if each),
        "error": None if trace["ok"] and not more else " / ".join(errors) or trace["stop_condition"],
        "stop": trace["stop_condition"],
    }


if __name__ == "__main__":
    main()
