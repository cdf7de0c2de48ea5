"""The desk of the fault suite in OpenEnv: an environment with MCP tools behind a WebSocket, and its own collector.

Run with a Python that has openenv-core: openenv_desk.py PLAN. Prints a JSON line for each rollout.
"""

import contextlib
import io
import json
import os
import re
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

# The collector prints why an episode failed, and breaks lines at the width of the terminal.
os.environ["COLUMNS"] = "4000"

import fastmcp
import uvicorn
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.mcp_environment import MCPEnvironment
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation, Tool
from openenv.core.env_server.types import Action, Observation, State
from openenv.core.generic_client import GenericEnvClient
from openenv.core.harness import (
    HarnessRunLimits,
    MCPHarnessAdapter,
    ModelStepResult,
    ResourceSessionFactory,
    StepEnvSessionAdapter,
    ToolResult,
)
from openenv.core.harness.collect import CollectRunner, RolloutSerializer, build_model_step
from openenv.core.llm_client import OpenAIClient

PLAN = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))


class DeskEnvironment(MCPEnvironment):
    """Its tools call the tool server; the reward is 1 while the server has the visit of the case."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        server = fastmcp.FastMCP("desk")
        self.case = ""
        self.steps = 0

        @server.tool
        async def visit(case: str) -> str:
            """Notes a visit."""
            return await self.ask("visit", case)

        @server.tool
        async def visits(case: str) -> str:
            """All visits."""
            return await self.ask("visits", case)

        super().__init__(server)

    async def ask(self, tool: str, case: str) -> str:
        async with fastmcp.Client(PLAN["tools"], timeout=PLAN["toolLimit"]) as client:
            result = await client.call_tool(tool, {"case": case})
        return result.content[0].text

    def reset(self, seed: int | None = None, episode_id: str | None = None, case: str = "", **_: Any) -> Observation:
        self.case = case
        self.steps = 0
        return Observation(done=False, reward=0.0)

    async def step_async(self, action: Action, timeout_s: float | None = None, **rest: Any) -> Observation:
        observation = await super().step_async(action, timeout_s, **rest)
        self.steps += 1
        observation.reward = float(self.case in json.loads(await self.ask("visits", self.case)))
        return observation

    def _step_impl(self, action: Action, timeout_s: float | None = None, **_: Any) -> Observation:
        raise ValueError(f"{type(action).__name__} is not an action of this environment")

    @property
    def state(self) -> State:
        return State(step_count=self.steps)


SCHEMA = {"type": "object", "properties": {"case": {"type": "string"}}, "required": ["case"]}
TOOLS = [
    Tool(name="visit", description="Notes a visit.", input_schema=SCHEMA),
    Tool(name="visits", description="All visits.", input_schema=SCHEMA),
]


def told(name: str, arguments: dict, result: Any, state: Any) -> ToolResult:
    """Returns what the model reads of a call: the text of its result, or its error."""
    observation = result.observation
    error = observation.get("error")
    if error:
        text = f"Error: {error['message']}"
    else:
        text = "\n".join(part.get("text", "") for part in observation["result"]["content"])
    return ToolResult(data=text, metadata={"reward": result.reward}, error=error and error["message"])


class DeskSessions(ResourceSessionFactory):
    def __init__(self, url: str) -> None:
        self.url = url

    def create(self, task: Any, seed: int | None = None, episode_id: str | None = None) -> StepEnvSessionAdapter:
        return StepEnvSessionAdapter(
            GenericEnvClient(base_url=self.url),
            task=task,
            seed=seed,
            episode_id=episode_id,
            tool_specs=TOOLS,
            action_builder=lambda name, args: {"type": "call_tool", "tool_name": name, "arguments": args},
            initial_messages_builder=lambda _, case: [{"role": "user", "content": f"Settle {case}."}],
            tool_result_builder=told,
            reset_kwargs={"case": task},
        )


def serve() -> str:
    app = create_app(DeskEnvironment, CallToolAction, CallToolObservation, env_name="desk", max_concurrent_envs=4)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def main() -> None:
    url = serve()
    port = int(PLAN["models"].rsplit(":", 1)[1])

    # Each step runs in its own event loop, and the connections of a client do not outlive the loop.
    def model_step(messages: list, tools: list, sampling: dict) -> ModelStepResult:
        return build_model_step(OpenAIClient("http://127.0.0.1", port, model="m"))(messages, tools, sampling)

    printed = io.StringIO()
    cases = {f"ep-{at:06d}": case for at, case in enumerate(PLAN["cases"])}
    with tempfile.TemporaryDirectory() as folder:
        runner = CollectRunner(
            session_factory=DeskSessions(url),
            harness_adapter=MCPHarnessAdapter(),
            serializer=RolloutSerializer(folder),
            tasks=list(cases.values()),
            limits=HarnessRunLimits(max_turns=PLAN["turns"]),
        )
        try:
            with contextlib.redirect_stdout(printed):
                runner.run(model_step=model_step, num_episodes=len(cases))
        finally:
            sys.stderr.write(printed.getvalue())
            results = Path(folder, "results.jsonl")
            for line in results.read_text(encoding="utf-8").splitlines() if results.exists() else []:
                record = json.loads(line)
                done = {"reward": record["reward"], "error": None, "stop": "done" if record["done"] else "max_turns"}
                print(json.dumps({"case": cases[record["episode_id"]], **done}))
            for episode, error in re.findall(r"^failed (ep-\d+): (.*?)\s*$", printed.getvalue(), re.MULTILINE):
                print(json.dumps({"case": cases[episode], "reward": None, "error": error}))


main()
