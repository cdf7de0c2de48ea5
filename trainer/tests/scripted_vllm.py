"""A replacement of vLLM's worker with transformers: the same lines and weights, with one answer at a time.

It runs in a thread of the tests, so that it does not import torch again for each process that the trainer starts. The
trainer starts `python -IS scripted_vllm.py PORT MODEL OPTIONS`, a process that passes on the lines.

If `SCRIPTED_VLLM_ENDS` in the environment names a file that does not exist yet, it makes the file and ends after three
answers.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

END = "end "
"""Begins the line after which the process ends with an error."""


@contextlib.contextmanager
def answering() -> Iterator[int]:
    """Answers the processes that connect to this port of loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with contextlib.suppress(OSError):  # the server is closed
                while True:
                    threading.Thread(target=_answer, args=(server.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def _answer(connection: socket.socket) -> None:
    # An OSError means that the process was killed.
    with contextlib.suppress(OSError), connection, connection.makefile("r") as lines, connection.makefile("w") as said:
        for line in _answers(next(lines).strip(), lines):
            print(line, file=said, flush=True)


def _answers(name: str, lines: Iterable[str]) -> Iterator[str]:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(name)
    is_suspended = False
    ends = os.environ.get("SCRIPTED_VLLM_ENDS")
    yield json.dumps({"ready": True})
    answered = 0
    for text in lines:
        line = json.loads(text)
        said: dict[str, Any] = {}
        if "reload" in line or "adapter" in line:
            model, is_suspended = AutoModelForCausalLM.from_pretrained(name), False
            if "adapter" in line:
                model = PeftModel.from_pretrained(model, line["adapter"])
        elif "suspend" in line:
            is_suspended = True
        elif is_suspended and "drop" not in line:
            said = {"error": "nothing is asked of one that is suspended"}
        elif "drop" not in line:
            if ends and not Path(ends).exists() and answered == 3:
                Path(ends).touch()
                yield END + "the memory is full"
                return
            said = _sampled(model, line)
            answered += 1
        yield json.dumps({"id": line["id"], **said})


def _sampled(model: Any, line: dict[str, Any]) -> dict[str, Any]:
    import torch

    stream = torch.Generator().manual_seed(line["seed"])
    ids: list[int] = []
    logprobs: list[float] = []
    with torch.inference_mode():
        while len(ids) < line["max_tokens"] and not set(ids[-1:]) & set(line["stop"]):
            logits = model(torch.tensor([[*line["prompt"], *ids]]), logits_to_keep=1).logits[0, -1].float()
            chances = (logits / (line["temperature"] or 1)).log_softmax(-1)
            drawn = torch.multinomial(chances.exp(), 1, generator=stream) if line["temperature"] else chances.argmax()
            ids.append(int(drawn))
            logprobs.append(float(chances[ids[-1]]))
    return {"ids": ids, "logprobs": logprobs, "cached": 0}


def main(port: str, model: str) -> None:
    """Passes the lines of standard input on, and prints the answers."""
    with socket.create_connection(("127.0.0.1", int(port))) as connection:

        def pass_on() -> None:
            for line in itertools.chain([model + "\n"], sys.stdin):
                connection.sendall(line.encode())
            connection.shutdown(socket.SHUT_WR)

        threading.Thread(target=pass_on, daemon=True).start()
        for line in connection.makefile("r"):
            if line.startswith(END):
                sys.exit(line.removeprefix(END))
            print(line, end="", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
