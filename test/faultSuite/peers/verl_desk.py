"""The desk of the fault suite in verl: its worker plays its tool agent loop, and its reward worker a reward function.

Run with a Python that has verl: verl_desk.py PLAN. Prints a JSON line for each rollout. Ray and a model are not needed:
the server of tokens is a stand-in that asks the suite's endpoint, and the workers run in this process.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import verl.trainer.config
from hydra import compose, initialize_config_dir
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.experimental.reward_loop.reward_loop import RewardLoopWorker
from verl.tools.base_tool import BaseTool
from verl.tools.schemas import ToolResponse
from verl.workers.rollout.replica import TokenOutput

PLAN = json.loads(Path(os.environ.get("DESK_PLAN") or sys.argv[1]).read_text(encoding="utf-8"))

TEMPLATE = (
    "{% if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n{% endif %}"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}"
    "{% for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


async def ask(tool: str, case: str) -> str:
    """Calls a tool of the server. verl has no client of MCP, so this is a request in its form."""
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": {"case": case}}}
    timeout = aiohttp.ClientTimeout(total=PLAN["toolLimit"])
    async with aiohttp.ClientSession(timeout=timeout) as session, session.post(PLAN["tools"], json=body) as response:
        response.raise_for_status()
        answer = await response.json()
    if answer.get("error"):
        raise RuntimeError(answer["error"]["message"])
    return answer["result"]["content"][0]["text"]


class VisitTool(BaseTool):
    async def execute(self, instance_id: str, parameters: dict[str, Any], **_: Any) -> tuple[ToolResponse, float, dict]:
        return ToolResponse(text=await ask(self.name, parameters["case"])), 0.0, {}


async def compute_score(data_source: str, solution_str: str, ground_truth: str, extra_info: dict, **_: Any) -> float:
    return float(ground_truth in json.loads(await ask("visits", ground_truth)))


class TokenServer:
    """Answers token ids with those of the reply that the suite's endpoint gives to the same conversation."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    async def generate(self, request_id: str, prompt_ids: list[int], **_: Any) -> TokenOutput:
        text = self.tokenizer.decode(prompt_ids, skip_special_tokens=False)
        parts = re.findall(r"<\|im_start\|>(\w+)\n(.*?)<\|im_end\|>", text, re.DOTALL)
        body = {"model": "m", "messages": [{"role": role, "content": content} for role, content in parts]}
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{PLAN['models']}/agent/v1/chat/completions", json=body) as response,
        ):
            message = (await response.json())["choices"][0]["message"]
        said = message["content"] or ""
        for call in message.get("tool_calls", []):
            function = call["function"]
            named = {"name": function["name"], "arguments": json.loads(function["arguments"])}
            said += f"<tool_call>{json.dumps(named)}</tool_call>"
        ids = self.tokenizer.encode(f"{said}<|im_end|>", add_special_tokens=False)
        return TokenOutput(token_ids=ids, log_probs=[0.0] * len(ids))


def make_model(folder: Path) -> None:
    """Writes a configuration of a model and a tokenizer of bytes; there are no weights."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    config = Qwen2Config(vocab_size=len(tokenizer), hidden_size=8, num_hidden_layers=1)
    config.architectures = ["Qwen2ForCausalLM"]
    config.save_pretrained(folder)


def make_config(folder: Path) -> Any:
    schema = {"type": "object", "properties": {"case": {"type": "string"}}, "required": ["case"]}
    tools = [
        {
            "class_name": "verl_desk.VisitTool",
            "config": {"type": "native"},
            "tool_schema": {
                "type": "function",
                "function": {"name": name, "description": f"The tool {name}.", "parameters": schema},
            },
        }
        for name in ("visit", "visits")
    ]
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    changed = {
        "actor_rollout_ref.model.path": folder,
        "actor_rollout_ref.rollout.name": "vllm",
        "actor_rollout_ref.rollout.prompt_length": 2000,
        "actor_rollout_ref.rollout.response_length": 12000,
        "actor_rollout_ref.rollout.multi_turn.enable": True,
        "actor_rollout_ref.rollout.multi_turn.format": "hermes",
        "actor_rollout_ref.rollout.multi_turn.max_assistant_turns": PLAN["turns"],
        "actor_rollout_ref.rollout.multi_turn.tool_config_path": folder / "tools.json",
        "reward.custom_reward_function.path": Path(__file__),
        "reward.custom_reward_function.name": "compute_score",
    }
    with initialize_config_dir(str(Path(verl.trainer.config.__file__).parent), version_base=None):
        return compose("ppo_trainer", overrides=[f"{key}={value}" for key, value in changed.items()])


async def play(worker: AgentLoopWorker) -> None:
    """Plays each case as a separate prompt; as in verl's trainer, the error of one does not end the others."""

    async def one(case: str) -> dict:
        trajectory = {"step": 1, "sample_index": 0, "rollout_n": 0, "validate": False}
        try:
            output = await worker._run_agent_loop(
                {},
                trajectory,
                agent_name="tool_agent",
                trace=False,
                raw_prompt=[{"role": "user", "content": f"Settle {case}."}],
                data_source="desk",
                reward_model={"ground_truth": case},
            )
        except Exception as error:
            return {"case": case, "reward": None, "error": f"{type(error).__name__}: {error}"}
        return {"case": case, "reward": output.reward_score, "error": None, "stop": f"{output.num_turns} turns"}

    for played in asyncio.as_completed([one(case) for case in PLAN["cases"]]):
        print(json.dumps(await played), flush=True)


async def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_model(folder)
        config = make_config(folder)
        rewards = RewardLoopWorker(config)
        handle = SimpleNamespace(compute_score=SimpleNamespace(remote=rewards.compute_score))
        worker = AgentLoopWorker(config, llm_client=None, reward_loop_worker_handles=[handle])
        worker.llm_client = TokenServer(worker.tokenizer)
        await play(worker)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    os.environ["DESK_PLAN"] = sys.argv[1]
    asyncio.run(main())
