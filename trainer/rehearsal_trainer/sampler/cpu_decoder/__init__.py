"""Samples from the live model on a CPU, for many sessions at once. On a GPU transformers does (paged_sampler.py).

Training on a laptop spends most of its time here, so the loop is optimized for that machine:

- `generation.py` has the sampler that a gateway uses. One thread does all decoding; each of its passes takes the next
  token of every answer and the new tokens of new requests (continuous batching). A session keeps its keys and values
  between turns, and a new one copies the longest prefix that another session already has.
- `decoders.py` chooses the decoder of a model, which implements the protocol in `decoder.py`. `LlamaDecoder` decodes
  the families Llama, Qwen 2 and Qwen 3. `ModuleDecoder` decodes every other model through its own forward, one session
  after the other: correct, but slow. It also decodes quantized models, and on a GPU models that transformers cannot
  page.
- `attention_batch.py` groups new tokens for attention, `linear.py` lays weights out once per optimizer step
  for products of a few rows, `ngram_speculation.py` guesses tokens that are computed in one pass with the
  given ones, and `release_threads` of devices.py lets optimizer and sampler use the cores in turn.

Each request has its own seed and its own stream of random numbers: the same seed, weights and prompt give the same ids,
independent of the other requests, except for rounding in another batch. transformers has one stream for all requests.

`npm run bench -- --only training` compares it with transformers on the same conversations; the figures and the method
are in docs/training-targets.md, "On a CPU".
"""
