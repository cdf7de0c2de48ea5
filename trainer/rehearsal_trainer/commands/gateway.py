"""Serves a model through the gateway. Torch-free, except for the model.

    python -m rehearsal_trainer gateway --model smollm2 --dialect compact

prints {"base_url", "token", "model", "dialect"} as its first line and serves until it is stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
from collections.abc import Sequence
from typing import get_args

from rehearsal_trainer.sampler.answers import Sampling
from rehearsal_trainer.settings.keys import DialectName


def main(argv: Sequence[str]) -> int:
    """Serves one model until SIGTERM, SIGINT."""
    parser = argparse.ArgumentParser(prog="rehearsal_trainer gateway", description="Serves a model or checkpoint.")
    parser.add_argument("--model", default="smollm2", help="smollm2, tiny, a folder or a hub id")
    parser.add_argument("--dialect", required=True, choices=get_args(DialectName), help="of its tools and calls")
    parser.add_argument("--thinking", action="store_true", help="the model thinks before it answers")
    parser.add_argument("--exact-history", action="store_true", help="the model was trained with exact_history")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--top-p", type=float, default=1.0)
    parser.add_argument("--max-tokens", type=int, default=1024, help="per answer")
    parser.add_argument("--dtype", default="float32", choices=["auto", "float32", "bfloat16"])
    options = parser.parse_args(argv)
    from rehearsal_trainer.gateway.serving import open_gateway

    sampling = Sampling(options.temperature, options.top_p, options.max_tokens)
    gateway = open_gateway(
        options.model, options.dialect, sampling, options.dtype, options.thinking, options.exact_history
    )

    async def serve() -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):  # Windows has no handlers in its loop
                loop.add_signal_handler(name, stopped.set)
        async with gateway.serving(options.port):
            first = {"base_url": f"{gateway.base_url}/v1", "token": gateway.token, "model": gateway.model}
            print(json.dumps(first | {"dialect": options.dialect}), flush=True)
            await stopped.wait()

    asyncio.run(serve())
    gateway.generator.close()
    return 0
