"""Serves vLLM's engine over JSON lines. It runs in the Python that has vLLM, and does not import the trainer.

    python vllm_worker.py MODEL OPTIONS

MODEL is a folder with a model or its id on the Hugging Face hub, OPTIONS a JSON object of vLLM's engine arguments. The
first line of standard output is {"ready": true}. Then each line of standard input is answered by a line with its id:

    {"id": 1, "prompt": [...], "max_tokens": 8, "temperature": 1, "top_p": 1, "seed": 7, "stop": [2]}
                        {"id": 1, "ids": [...], "logprobs": [...], "cached": 64}
    {"id": 2, "reload": true}    loads the new weights of the folder: {"id": 2}
    {"id": 3, "adapter": "/a/folder", "number": 5}    answers with this LoRA adapter from now on: {"id": 3}
    {"id": 4, "suspend": 1}      frees the GPU's memory until the next reload or adapter. 1 keeps the weights in the
                                 machine's memory, 2 drops them: {"id": 4}
    {"id": 5, "drop": 1}         cancels request 1: {"id": 5}
    a request that fails         {"id": 1, "error": "..."}

The worker exits at the end of standard input. It handles only token ids, not text.
"""

# pyright: basic, reportMissingImports=false
import asyncio
import json
import os
import sys

# vLLM and its processes print to standard output. Their output goes to standard error, so that only answers are in it.
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")


def say(line):
    ANSWERS.write(json.dumps(line) + "\n")
    ANSWERS.flush()


async def main(model, options):
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.lora.request import LoRARequest
    from vllm.sampling_params import RequestOutputKind, SamplingParams
    from vllm.v1.engine.async_llm import AsyncLLM

    engine = AsyncLLM.from_engine_args(
        AsyncEngineArgs(
            model=model, skip_tokenizer_init=True, generation_config="vllm", logprobs_mode="processed_logprobs",
            disable_log_stats=True, **options,
        )
    )  # fmt: skip

    adapter = None
    is_suspended = False

    async def wake(*tags):
        # Weights first, so that the keys and values are not in memory together with both copies of the weights.
        if is_suspended:
            await engine.wake_up(list(tags))

    async def use(path, number):
        nonlocal adapter, is_suspended
        await wake("weights", "kv_cache")
        is_suspended = False
        if adapter is not None:
            await engine.remove_lora(adapter.lora_int_id)
        # vLLM caches prefixes by the name of the adapter, so each adapter has a new name.
        adapter = LoRARequest(f"adapter-{number}", number, path)
        await engine.add_lora(adapter)

    async def reload():
        nonlocal is_suspended
        await wake("weights")
        await engine.collective_rpc("reload_weights")
        await wake("kv_cache")
        is_suspended = False
        await engine.reset_prefix_cache()

    async def suspend(level):
        nonlocal is_suspended
        is_suspended = True
        await engine.sleep(level)

    async def sample(line):
        params = SamplingParams(
            temperature=line["temperature"], top_p=line["top_p"], max_tokens=line["max_tokens"], seed=line["seed"],
            stop_token_ids=line["stop"], logprobs=0, detokenize=False, output_kind=RequestOutputKind.FINAL_ONLY,
        )  # fmt: skip
        last = None
        prompt = {"prompt_token_ids": line["prompt"]}
        async for output in engine.generate(prompt, params, str(line["id"]), lora_request=adapter):
            last = output
        assert last is not None, "vLLM gave no answer"
        [answer] = last.outputs
        ids = list(answer.token_ids)
        logprobs = [step[token].logprob for token, step in zip(ids, answer.logprobs, strict=True)]
        return {"ids": ids, "logprobs": logprobs, "cached": last.num_cached_tokens or 0}

    async def done(line):
        if "reload" in line:
            await reload()
        elif "adapter" in line:
            await use(line["adapter"], line["number"])
        elif "suspend" in line:
            await suspend(line["suspend"])
        elif "drop" in line:
            await engine.abort(str(line["drop"]))
        else:
            return await sample(line)
        return {}

    async def answer(line):
        try:
            say({"id": line["id"], **await done(line)})
        except Exception as error:
            say({"id": line["id"], "error": f"{type(error).__name__}: {error}"})

    say({"ready": True})
    loop, tasks = asyncio.get_running_loop(), set()
    while text := await loop.run_in_executor(None, sys.stdin.readline):
        task = asyncio.create_task(answer(json.loads(text)))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    engine.shutdown()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
