/** How servers write that a request does not fit into the context. Only OpenAI and routers have a code for it. */
const words: readonly RegExp[] = [
  // OpenAI, llama.cpp, Kimi, GitHub Copilot
  /context_length_exceeded|exceed_context_size|exceeded model token limit|model_max_prompt_tokens_exceeded/,
  // vLLM, SGLang, OpenRouter, DeepSeek
  /(?:maximum|model's) context length/,
  /context (?:length|window|size) (?:is |was |has been )?(?:only |exceed)/,
  /exceeds? (?:the |your )?(?:available |model's )?(?:context|maximum number of tokens)/,
  /(?:longer|greater|larger) than the (?:model's context|context length|maximum (?:model|context) length)/,
  // Anthropic, Bedrock, Gemini, xAI
  /(?:prompt|input) is too long|input token count|maximum (?:prompt|input) length/,
  // GLM, DashScope, LM Studio, TGI
  /prompt exceeds max length|range of input length|loaded with context length|max_new_tokens.*must be <=/,
];

type Refused = { readonly code?: unknown; readonly status?: number | undefined; readonly message: string };

/** Returns whether an endpoint refuses a request because it does not fit into the context of its model. */
export function isContextRefusal({ code, status, message }: Refused): boolean {
  if (code === 'context_length_exceeded') return true;
  return [400, 413, 422, 500].includes(status ?? 0) && words.some((each) => new RegExp(each, 'i').test(message));
}
