"""vLLM's engine, asked in JSON lines. It runs in the Python that has vLLM, and knows nothing else of the trainer.

    python vllm_side.py FOLDER OPTIONS

FOLDER holds the model, OPTIONS is a JSON object of vLLM's engine arguments. The first line of standard output is
{"ready": true}; then each line of standard input is answered by one with its id:

    {"id": 1, "prompt": [...], "max_tokens": 8, "temperature": 1, "top_p": 1, "seed": 7, "stop": 2}
                        {"id": 1, "ids": [...], "logprobs": [...], "cached": 64}
    {"id": 2, "reload": true}    the folder's weights are new: {"id": 2}
    {"id": 3, "drop": 1}         the answer 1 is not wanted any more: {"id": 3}
    what fails                   {"id": 1, "error": "..."}

The end of standard input ends it. What it leaves out: everything about text.
"""

# pyright: basic, reportMissingImports=false
import asyncio
import json
import os
import sys

# vLLM and its own processes print to standard output: that goes to standard error, and the answers have it alone.
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")


def say(line):
    ANSWERS.write(json.dumps(line) + "\n")
    ANSWERS.flush()


async def main(folder, options):
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.sampling_params import RequestOutputKind, SamplingParams
    from vllm.v1.engine.async_llm import AsyncLLM

    engine = AsyncLLM.from_engine_args(
        AsyncEngineArgs(
            model=folder, skip_tokenizer_init=True, generation_config="vllm", logprobs_mode="processed_logprobs",
            disable_log_stats=True, **options,
        )
    )  # fmt: skip

    async def sample(line):
        params = SamplingParams(
            temperature=line["temperature"], top_p=line["top_p"], max_tokens=line["max_tokens"], seed=line["seed"],
            stop_token_ids=[line["stop"]], logprobs=0, detokenize=False, output_kind=RequestOutputKind.FINAL_ONLY,
        )  # fmt: skip
        last = None
        async for output in engine.generate({"prompt_token_ids": line["prompt"]}, params, str(line["id"])):
            last = output
        assert last is not None, "vLLM gave no answer"
        [answer] = last.outputs
        ids = list(answer.token_ids)
        logprobs = [step[token].logprob for token, step in zip(ids, answer.logprobs, strict=True)]
        return {"ids": ids, "logprobs": logprobs, "cached": last.num_cached_tokens or 0}

    async def done(line):
        if "reload" in line:
            await engine.collective_rpc("reload_weights")
            await engine.reset_prefix_cache()
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
