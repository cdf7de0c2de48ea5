"""Stands in for vLLM's side with transformers: the same lines, the same folder of weights, answers one by one.

    python scripted_vllm.py FOLDER OPTIONS

With `SCRIPTED_VLLM_ENDS` in the environment, the name of a file that is not there yet, it makes the file and ends after
three answers.
"""

import json
import os
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM
from transformers.utils import logging

logging.disable_progress_bar()


def main(folder: str) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder)
    ends = os.environ.get("SCRIPTED_VLLM_ENDS")
    print(json.dumps({"ready": True}), flush=True)
    answered = 0
    for text in sys.stdin:
        line = json.loads(text)
        if "reload" in line:
            model = AutoModelForCausalLM.from_pretrained(folder)
            said = {}
        elif "drop" in line:
            said = {}
        else:
            if ends and not Path(ends).exists() and answered == 3:
                Path(ends).touch()
                sys.exit("the memory is full")
            said = sampled(model, line)
            answered += 1
        print(json.dumps({"id": line["id"], **said}), flush=True)


@torch.inference_mode()
def sampled(model, line):
    stream = torch.Generator().manual_seed(line["seed"])
    ids, logprobs = [], []
    while len(ids) < line["max_tokens"] and line["stop"] not in ids[-1:]:
        logits = model(torch.tensor([[*line["prompt"], *ids]])).logits[0, -1].float()
        chances = (logits / (line["temperature"] or 1)).log_softmax(-1)
        token = int(torch.multinomial(chances.exp(), 1, generator=stream) if line["temperature"] else chances.argmax())
        ids.append(token)
        logprobs.append(float(chances[token]))
    return {"ids": ids, "logprobs": logprobs, "cached": 0}


if __name__ == "__main__":
    main(sys.argv[1])
