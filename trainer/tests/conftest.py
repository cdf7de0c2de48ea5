"""Fixtures of the tests: the tiny random model, a decoder with given answers, and a client of the gateway."""

from __future__ import annotations

import asyncio
import copy
import gc
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# bitsandbytes, which only the tests of QLoRA need; the trainers that tests start do not import it.
sys.path.append(str(Path(sys.prefix) / "apart"))

import aiohttp
import pytest
import torch
from hypothesis import settings
from peft import LoraConfig, get_peft_model
from waiting import LIMIT_S

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rehearsal_trainer.chat.chat import Chat, template_options
from rehearsal_trainer.gateway.gateway import Gateway
from rehearsal_trainer.gateway.serving import gateway_over
from rehearsal_trainer.metrics.metrics import metric_of
from rehearsal_trainer.models.loading import load_model, load_tokenizer
from rehearsal_trainer.runs.run_folder import RunFolder
from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.sampler.cpu_decoder.decoder import Entry
from rehearsal_trainer.sampler.cpu_decoder.generation import Generator
from rehearsal_trainer.values.messages import Conversation, Message, Tool

# `npm test` gives the same result for the same code. The full suite tries more examples with a new seed.
RUNS = int(os.environ.get("REHEARSAL_RUNS", "1"))
settings.register_profile(
    "rehearsal", deadline=None, max_examples=100 * RUNS, derandomize="REHEARSAL_SEED" not in os.environ
)
settings.load_profile("rehearsal")

REPOSITORY = Path(__file__).resolve().parents[2]
ENGINE = REPOSITORY / "dist" / "rehearsal.mjs"
DOMAIN = str(REPOSITORY / "domains" / "parcel-desk")
OWN_NODE = REPOSITORY / "node_modules" / "node" / "bin" / "node"

TOOLS = [
    Tool(
        "find_parcel",
        "Where a parcel is.",
        {"type": "object", "properties": {"parcel": {"type": "string"}}, "required": ["parcel"]},
    )
]
TOOLS_JSON = [
    {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": dict(t.parameters)}}
    for t in TOOLS
]


def node_of() -> str:
    """The Node that runs the engine."""
    found = os.environ.get("REHEARSAL_NODE") or (str(OWN_NODE) if OWN_NODE.exists() else shutil.which("node"))
    assert found is not None and ENGINE.exists(), "the engine is not built: npm run build"
    return found


def all_in_full_suite(cases: Sequence[str], only_full: Sequence[str]) -> list[Any]:
    """Parameters of a test. `npm test` leaves out those that only the full suite runs."""
    return [pytest.param(each, marks=pytest.mark.full) if each in only_full else each for each in cases]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out tests marked `full`, except in `npm run test:full`."""
    if os.environ.get("REHEARSAL_SUITE") == "full":
        return
    left_out = [each for each in items if each.get_closest_marker("full")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [each for each in items if not each.get_closest_marker("full")]


def pytest_collection_finish() -> None:
    # Every run of TRL collects garbage, which is slow if it has to scan all imported modules.
    gc.freeze()


@pytest.fixture(autouse=True)
def _only_known_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if a run writes a metric that is not in the table of metrics.py."""
    write = RunFolder.metrics

    def checked(run: RunFolder, step: int, values: Mapping[str, float | None]) -> None:
        unknown = [name for name in values if metric_of(name) is None]
        assert not unknown, f"metrics.py does not know {', '.join(unknown)}"
        write(run, step, values)

    monkeypatch.setattr(RunFolder, "metrics", checked)


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return load_tokenizer("tiny")


@pytest.fixture(scope="session")
def gold_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a run's folder with the test tasks of parcel-desk, played by the gold seat of the real engine."""
    run = tmp_path_factory.mktemp("recorded") / "run"
    command = [node_of(), str(ENGINE), "eval", str(REPOSITORY / "domains" / "parcel-desk"), "--agent", "gold"]
    subprocess.run([*command, "--split", "test", "--out", str(run)], check=True, capture_output=True, timeout=LIMIT_S)
    return run


@pytest.fixture
def chat(tokenizer: Any) -> Chat:
    return chat_with(tokenizer, "compact")


def template_of(name: str) -> str:
    """Returns one of TRL's chat templates, which are byte-for-byte copies of the models' templates."""
    spec = importlib.util.find_spec("trl")
    assert spec is not None and spec.origin is not None
    return (Path(spec.origin).parent / "chat_templates" / f"{name}.jinja").read_text(encoding="utf-8")


def chat_with(tokenizer: Any, template: str, thinking: bool = False) -> Chat:
    """Returns the chat of ChatML's tokenizer with a template: `compact`, or one of TRL's, such as `qwen2_5`."""
    own = copy.deepcopy(tokenizer)
    if template == "compact":
        return Chat.of(own, {own.eos_token_id}, "compact")
    own.chat_template = template_of(template)
    return Chat.of(own, {own.eos_token_id}, "template", template_options(thinking))


def replies_of(chat: Chat, conversation: Conversation) -> list[str]:
    """The texts that a model samples which says what the assistant says in a conversation, without the end marks."""
    replies = []
    before: list[Message] = [Message("system", conversation.system)] if conversation.system else []
    for message in conversation.messages:
        if message.role == "assistant":
            ids = chat.template.reply_ids(before, message, conversation.tools)
            replies.append(chat.tokenizer.decode([each for each in ids if each not in chat.stop_ids]))
        before.append(message)
    return replies


@pytest.fixture
def tiny_model() -> Any:
    return load_model("tiny", torch.float32).eval()


@pytest.fixture
def tiny_gateway(tiny_model: Any, tokenizer: Any) -> Any:
    gateway = gateway_over(tiny_model, chat_with(tokenizer, "compact"), "tiny", Sampling(1.0, 1.0, 12), 1024, 8)
    yield gateway
    gateway.generator.close()


def save_whole(model: Any, folder: Path) -> None:
    model.save_pretrained(folder)
    load_tokenizer("tiny").save_pretrained(folder)


@pytest.fixture
def runs(tmp_path: Path, tiny_model: Any) -> Path:
    """Returns a folder with two runs: `sft` with a whole model, and `grpo` with an adapter of that model."""
    root = tmp_path / "training"
    base = root / "sft" / "checkpoints" / "final"
    save_whole(tiny_model, base)
    adapter = get_peft_model(load_model(str(base), torch.float32), LoraConfig(r=2, target_modules=["q_proj"]))
    adapter.save_pretrained(str(root / "grpo" / "checkpoints" / "final"))
    (root / "grpo" / "config.json").write_text(json.dumps({"run": str(root / "grpo"), "model": str(base)}))
    return root


class ForcedDecoder:
    """A decoder without a model: its logits select the next id of a prepared reply, for every prompt."""

    def __init__(self, vocabulary: int, replies: Sequence[Sequence[int]]) -> None:
        self.vocabulary = vocabulary
        self.ids = [token for reply in replies for token in reply]
        self.seen: list[int] = []

    def extend(self, entries: Sequence[Entry]) -> torch.Tensor:
        logits = torch.zeros(sum(wanted for *_, wanted in entries), self.vocabulary)
        first = 0
        for _, tokens, wanted in entries:
            guessed = tokens[len(tokens) - wanted + 1 :]
            self.seen += tokens[: len(tokens) - len(guessed)]
            for row, guess in enumerate([*guessed, None], first):
                token = self.ids.pop(0)
                logits[row, token] = 1e4
                if guess != token:
                    break
                self.seen.append(token)
            first += wanted
        return logits

    def truncate(self, session: str, length: int) -> None: ...
    def copy(self, source: str | None, target: str, length: int) -> None: ...
    def drop(self, session: str) -> None: ...
    def refresh(self) -> None: ...
    def adopt(self, model: Any) -> None: ...


@pytest.fixture
def forced_gateway(tokenizer: Any) -> Any:
    """Makes a gateway whose model answers with the texts' ids, each followed by the end token."""
    opened: list[Gateway] = []

    def make(replies: Sequence[str], template: str = "compact") -> Gateway:
        chat = chat_with(tokenizer, template)
        ids = [[*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id] for text in replies]
        generator = Generator(ForcedDecoder(len(tokenizer), ids), chat.stop_ids, 4096)
        gateway = Gateway(generator, chat, "forced", Sampling(1.0, 1.0, 200), 4096)
        opened.append(gateway)
        return gateway

    yield make
    for gateway in opened:
        gateway.generator.close()


class Client:
    """A plain HTTP client of a gateway."""

    def __init__(self, gateway: Gateway, http: aiohttp.ClientSession) -> None:
        self.gateway = gateway
        self.http = http

    async def send(self, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.gateway.token if token is None else token}"}
        data = body if isinstance(body, str | bytes | None) else None
        json = None if data is not None else body
        url = self.gateway.base_url + path
        async with self.http.request(method, url, data=data, json=json, headers=headers) as response:
            return response.status, await response.json()

    async def complete(self, session: str, messages: list[Any], **extra: Any) -> Any:
        body = {"messages": messages, "tools": TOOLS_JSON, **extra}
        status, answer = await self.send("POST", f"/sessions/{session}/v1/chat/completions", body)
        assert status == 200, answer
        return answer["choices"][0]["message"]


def served(gateway: Gateway, visit: Callable[[Client], Awaitable[Any]]) -> Any:
    """Serves the gateway, runs the visit, and returns its result."""

    async def run() -> Any:
        async with gateway.serving(), aiohttp.ClientSession() as http:
            return await visit(Client(gateway, http))

    return asyncio.run(run())


SCRIPTED_ENGINE = [sys.executable, "scripted_engine.py"]
TESTS = str(Path(__file__).resolve().parent)
