"""Tests the checks before a run begins: the model, its memory, and the disk space."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import DOMAIN, template_of
from peft import LoraConfig, get_peft_model
from waiting import LIMIT_S

from rehearsal_trainer.backends.verl import job
from rehearsal_trainer.backends.verl.cluster_config import PROFILES, ClusterConfig
from rehearsal_trainer.commands import evaluate, grpo, sft
from rehearsal_trainer.models.loading import load_model, load_tokenizer, model_folder
from rehearsal_trainer.runs import preflight
from rehearsal_trainer.runs.preflight import REST, Size, size_of
from rehearsal_trainer.settings.configuration import from_values
from rehearsal_trainer.values.failures import ConfigurationError

TRAINER = Path(__file__).resolve().parents[1]


class Hub(BaseHTTPRequestHandler):
    """A hub that has `ada/open` with the sizes of its files, and refuses access to `ada/gated`.

    It closes the connection of a request for `ada/unreachable`, like a network that cannot reach the hub.
    """

    def do_GET(self) -> None:
        if "ada/unreachable" in self.path:
            self.close_connection = True
            return
        if "ada/open" in self.path:
            sizes = {"a.safetensors": 1000, "b.safetensors": 2000, "pytorch_model.bin": 3000, "config.json": 1}
            files = [{"rfilename": name, "size": size} for name, size in sizes.items()]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"id": "ada/open", "siblings": files}).encode())
            return
        known = "ada/gated" in self.path
        is_info = self.path.startswith("/api/models/")
        self.send_response(200 if known and is_info else 403 if known else 404)
        self.send_header("X-Error-Code", "GatedRepo" if known else "RepoNotFound")
        body = b'{"id": "ada/gated", "siblings": []}' if known and is_info else b""
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if self.command == "GET" else b"")

    do_HEAD = do_GET

    def log_message(self, format: str, *_: Any) -> None:
        pass


@dataclass(frozen=True)
class Check:
    """The exit code and the output of a command with `--check`."""

    code: int
    out: str
    err: str


CHECKS = """
import contextlib, io, json, sys
from unittest import mock
from rehearsal_trainer.__main__ import main
from rehearsal_trainer.runs.preflight import download_of
checks = []
for config in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    given = mock.patch("sys.stdin", io.StringIO(json.dumps(config)))
    with given, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["grpo", "--config", "-", "--check"])
    checks.append((code, out.getvalue(), err.getvalue()))
print(json.dumps({"checks": checks, "download": download_of("ada/open")}))
"""


Asked = tuple[dict[str, Check], int]

REFUSED = {
    "unknown/none": "'unknown/none' is neither smollm2, tiny, a folder with a model or adapter, nor a model that",
    "/no/where": "'/no/where' is neither smollm2, tiny, a folder with a model or adapter, nor a model that",
    "ada/gated": "the Hugging Face hub denies access to 'ada/gated': request access on its page, and set",
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """Asks the hub about each model in one other process, whose cache of the hub is empty."""
    home = tmp_path_factory.mktemp("home")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(home / "hf"), "HF_HUB_OFFLINE": "0"}
    models = [*REFUSED, "ada/unreachable"]
    configs = [{"domain": DOMAIN, "run": str(home / "run"), "model": model} for model in models]
    done = subprocess.run(
        [sys.executable, "-c", CHECKS], cwd=TRAINER, env=environment, input=json.dumps(configs),
        capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip
    server.shutdown()
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    return {model: Check(*check) for model, check in zip(models, answer["checks"], strict=True)}, answer["download"]


@pytest.mark.parametrize("model", REFUSED)
def test_a_model_that_can_t_be_had_is_one_message(asked: Asked, model: str) -> None:
    done = asked[0][model]
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: model: {REFUSED[model]}")
    assert done.err.count("\n") == 1


def test_a_hub_that_can_t_be_reached_is_no_wrong_name(asked: Asked) -> None:
    done = asked[0]["ada/unreachable"]
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: model: the Hugging Face hub is unreachable from here (")
    assert done.err.endswith("is not in its cache: check the network, or name a folder with the model\n")


def test_a_folder_without_a_model_is_told_by_what_it_lacks(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    config = from_values(evaluate.Config, evaluate.PROFILES, {"domain": DOMAIN, "run": "r", "model": str(folder)})
    for file, lacks in (("config.json", "config.json"), ("model.safetensors", "model.safetensors")):
        with pytest.raises(ConfigurationError, match=f"^model: {folder} does not contain a model: it has no {lacks}$"):
            evaluate.needs(config)
        (folder / file).write_text("{}")
    with pytest.raises(ConfigurationError, match=r"^model: .* is not a model that can be trained: "):
        evaluate.needs(config)


@pytest.mark.parametrize("name", list(preflight.NAMED))
@pytest.mark.full
def test_the_sizes_of_the_named_models_are_theirs(name: str) -> None:
    assert size_of(model_folder(name)) == size_of(name)


def test_an_adapter_is_as_large_as_its_base_and_its_rank(tmp_path: Path) -> None:
    lora = LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM")
    adapted = get_peft_model(load_model("tiny", torch.float32), lora)
    adapted.peft_config["default"].base_model_name_or_path = "tiny"
    adapted.save_pretrained(str(tmp_path))
    load_tokenizer("tiny").save_pretrained(tmp_path)
    size = size_of(str(tmp_path))
    assert size == replace(size_of("tiny"), own_rank=4)
    assert sum(each.numel() for name, each in adapted.named_parameters() if "lora" in name) == 4 * size.ends


P, ENDS = 134_515_008, 305_280
WHOLE, ADAPTER = 4 * P, 4 * 16 * ENDS
OF_GRPO, OF_SFT = {"domain": DOMAIN}, {"recordings": ["x"]}


@pytest.mark.parametrize(
    ("kind", "values", "disk"),
    [
        (sft, OF_SFT, 3 * ADAPTER + WHOLE),  # 40 steps in the profile, one checkpoint every 50
        (sft, {**OF_SFT, "steps": 400}, 3 * 3 * ADAPTER + WHOLE),
        (sft, {**OF_SFT, "lora_rank": 0, "epochs": 3.0}, 3 * 3 * WHOLE + WHOLE),
        (sft, {**OF_SFT, "lora_rank": 0, "dtype": "bfloat16", "epochs": 3.0}, 3 * 3 * WHOLE // 2 + WHOLE // 2),
        (sft, {**OF_SFT, "dtype": "bfloat16"}, 3 * ADAPTER + ADAPTER),  # which a merge would round away
        (grpo, OF_GRPO, 4 * 3 * ADAPTER + ADAPTER),
        (grpo, {**OF_GRPO, "lora_rank": 0, "keep_checkpoints": 1}, 2 * 3 * WHOLE + WHOLE),
        (grpo, {**OF_GRPO, "profile": "paper"}, 4 * 3 * WHOLE + WHOLE),
        (evaluate, OF_GRPO, 0),
    ],
)
def test_the_room_follows_model_numbers_and_checkpoints(
    tmp_path: Path, kind: Any, values: dict[str, Any], disk: int
) -> None:
    config = from_values(kind.Config, kind.PROFILES, {**values, "run": str(tmp_path / "run")})
    needed = kind.needs(config)
    assert needed["disk"] == disk + REST
    assert needed["free"] > 0
    assert (needed["parameters"], needed["download"]) == (preflight.NAMED[config.model].parameters, 0)
    assert needed["memory"]["needed"] < needed["memory"]["available"]


def test_the_download_is_the_weights_that_the_hub_has_in_one_format(tmp_path: Path, asked: Asked) -> None:
    assert asked[1] == 3000
    assert preflight.download_of("tiny") == preflight.download_of(str(tmp_path)) == 0


def test_verl_keeps_the_base_in_every_checkpoint_of_its_storage(tmp_path: Path) -> None:
    given = {**OF_GRPO, "run": "/here/run", "storage": str(tmp_path)}
    adapted = from_values(ClusterConfig, PROFILES, given)
    assert job.needs(adapted)["disk"] == 4 * (3 * ADAPTER + WHOLE) + REST
    assert job.needs(replace(adapted, lora_rank=0))["disk"] == 4 * 3 * WHOLE + REST


def test_checkpoints_from_before_are_no_more_that_is_needed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    config = from_values(grpo.Config, grpo.PROFILES, {**OF_GRPO, "run": str(run)})
    (run / "checkpoints" / "checkpoint-5").mkdir(parents=True)
    (run / "checkpoints" / "checkpoint-5" / "optimizer.pt").write_bytes(bytes(1000))
    assert grpo.needs(config)["disk"] == 4 * 3 * ADAPTER + ADAPTER + REST - 1000


@pytest.fixture
def base_model(tmp_path: Path) -> Path:
    """A folder with the small random model, whose tokenizer has no chat template."""
    folder = tmp_path / "base"
    load_model("tiny", torch.float32).save_pretrained(folder)
    tokenizer = load_tokenizer("tiny")
    tokenizer.chat_template = None
    tokenizer.save_pretrained(folder)
    (folder / "chat_template.jinja").unlink(missing_ok=True)
    return folder


def refusal(**values: Any) -> str:
    """Returns the message that refuses a run before its weights are loaded."""
    given = {"domain": DOMAIN, "run": "/tmp", "engine_command": ["x"], **values}
    config = from_values(grpo.Config, grpo.PROFILES, given)
    with pytest.raises(ConfigurationError) as raised:
        grpo.needs(config)
    return str(raised.value)


def test_a_model_that_cannot_chat_is_refused(base_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_tokenizer("smollm2")  # Its first use loads weights, to convert them.
    monkeypatch.setattr(preflight, "size_of", lambda _name: Size(1, 1, 1))
    monkeypatch.setattr("transformers.AutoModelForCausalLM.from_pretrained", lambda *_: pytest.fail("weights"))
    without = refusal(model=str(base_model), dialect="template")
    assert without.startswith("model: the model's tokenizer has no chat template")
    assert "set dialect: compact" in without
    (base_model / "chat_template.jinja").write_text(template_of("lfm2_v2"))
    assert "writes tool calls in a format that Rehearsal does not know" in refusal(model=str(base_model))
    (base_model / "chat_template.jinja").write_text(template_of("phi3"))
    assert "shows it no tools" in refusal(model=str(base_model), dialect="template")
    assert "shows it no tools" in refusal(model="smollm2", dialect="template")


def test_the_plan_names_the_format_of_conversations_and_why(base_model: Path) -> None:
    def chat(**values: Any) -> str:
        config = from_values(grpo.Config, grpo.PROFILES, {**OF_GRPO, "run": "/tmp", **values})
        return grpo.needs(config)["chat"]

    assert chat(model=str(base_model)).startswith("compact, because the model's tokenizer has no chat template, as")
    assert chat(model=str(base_model), dialect="compact") == chat(dialect="compact") == "compact, as dialect says"
    (base_model / "chat_template.jinja").write_text(template_of("phi3"))
    without = "compact, because the model's chat template shows it no tools"
    assert chat(model=str(base_model)) == chat(model="smollm2") == without
    (base_model / "chat_template.jinja").write_text(template_of("qwen3"))
    own = chat(model=str(base_model))
    assert own.startswith("the model's chat template, with calls as in ")
    assert chat(model=str(base_model), thinking=True) == f"{own}; the model thinks before it answers"


def test_a_folder_without_a_domain_is_refused(tmp_path: Path) -> None:
    said = f"{tmp_path / 'nope'} is not a domain, because it has no domain.yaml. A domain is a folder with domain.yaml"
    here = {"engine_cwd": str(tmp_path)}
    assert refusal(domain="nope", **here).startswith(f"domain: {said}, a policy, tools and tasks. Correct the path, or")
    assert refusal(domain=[{"folder": DOMAIN}, {"folder": "nope"}], **here).startswith(f"domain: {said}")
    held = {"evaluate_every": 1, "held_out": [{"folder": "nope"}]}
    assert refusal(**held, **here).startswith(f"held_out: {said}")


def test_a_model_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "size_of", lambda _name: Size(8_000_000_000, 40_000_000, 7_000_000_000))
    monkeypatch.setattr(preflight, "check_chat", lambda _config: None)
    monkeypatch.setattr(preflight, "device_memory", lambda _model: ("the GPU (A100)", 40 * 2**30))
    assert refusal(model="big", profile="paper") == (
        "model: big is too large for the GPU (A100). It has 8.0 billion parameters; weights, gradients, optimizer and "
        "the reference of beta take 149.0 GiB of 40.0 GiB. To continue, choose a smaller model, or set lora_rank above "
        "0"
    )
    assert "weights, gradients and optimizer take 119.2 GiB" in refusal(model="big", profile="paper", beta=0.0)
    assert "or set lora_rank" not in refusal(model="big", profile="gpu", dtype="float32", lora_rank=64)
    config = {"domain": DOMAIN, "run": "/tmp", "engine_command": ["x"], "model": "big", "dtype": "bfloat16"}
    assert grpo.needs(from_values(grpo.Config, grpo.PROFILES, {**config, "profile": "gpu"}))["disk"] > 0


GIB = 2**30


def big_refusal(monkeypatch: pytest.MonkeyPatch, billions: float, room: float, **values: Any) -> str:
    """Returns the message that refuses a big model on a device with this many GiB."""
    weights = round(billions * 1e9)
    monkeypatch.setattr(preflight, "size_of", lambda _name: Size(weights, 2_700_000, round(0.85 * weights)))
    monkeypatch.setattr(preflight, "check_chat", lambda _config: "")
    monkeypatch.setattr(preflight, "check_vllm", lambda _python: None)
    monkeypatch.setattr(preflight, "device_memory", lambda _model: ("the GPU", round(room * GIB)))
    return refusal(model="big", **{"profile": "gpu", "dtype": "bfloat16", **values})


def test_vllm_s_share_of_the_memory_has_room_for_its_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert big_refusal(monkeypatch, 8.2, 24, vllm_python="/python") == (
        "vllm_memory: vLLM has 9.6 GiB of the GPU, and its copy of big (8.2 billion parameters) takes 15.3 GiB. To "
        "continue, choose a smaller model, or leave vllm_python out"
    )
    assert "or set vllm_memory to 0.5, or leave" in big_refusal(
        monkeypatch, 8.2, 40, vllm_python="/python", vllm_memory=0.2
    )
    assert big_refusal(monkeypatch, 8.2, 40, vllm_python="/python", vllm_memory=0.9).startswith(
        "vllm_memory: while it samples, vLLM takes 36.0 GiB, and the trainer keeps 15.9 GiB of weights and optimizer"
    )
    config = {**OF_GRPO, "run": "/tmp", "model": "big", "profile": "gpu", "dtype": "bfloat16", "vllm_python": "/python"}
    monkeypatch.setattr(preflight, "device_memory", lambda _model: ("the GPU", 80 * GIB))
    assert grpo.needs(from_values(grpo.Config, grpo.PROFILES, config))["memory"]["vllm"] == 32 * GIB


def test_advice_for_a_model_that_is_too_large_names_only_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert big_refusal(monkeypatch, 69.3, 23.5).endswith(
        ". No setting makes it fit. Choose a smaller model or a larger device"
    )
    assert big_refusal(monkeypatch, 69.3, 60).endswith(", or set quantization to 4bit")
    assert big_refusal(monkeypatch, 20, 60, dtype="float32").endswith(
        ", or set dtype to bfloat16, or set quantization to 4bit"
    )
    whole = big_refusal(monkeypatch, 20, 30, lora_rank=0)
    assert whole.endswith(", or set lora_rank above 0 and quantization to 4bit")


@pytest.mark.parametrize(
    ("values", "own_rank", "copied"),
    [
        ({"lora_rank": 0}, 0, 4 * P),
        ({"lora_rank": 0, "dtype": "bfloat16"}, 0, 4 * P),  # TRL loads it in float32
        ({"lora_rank": 0, "beta": 0.0}, 0, 0),
        ({}, 0, 0),  # the model without the new adapter
        ({}, 16, ADAPTER),
        ({"beta": 0.0}, 16, 0),
    ],
)
def test_the_reference_of_the_kl_term_takes_memory(values: dict[str, Any], own_rank: int, copied: int) -> None:
    config = from_values(grpo.Config, grpo.PROFILES, {**OF_GRPO, "run": "r", **values})
    assert preflight.reference(config, Size(P, ENDS, 0, own_rank)) == copied
