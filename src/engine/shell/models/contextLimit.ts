/** Codes and types of errors that say so themselves: OpenAI, llama.cpp, GitHub Copilot, GitHub Models, LiteLLM, ds4. */
const names =
  /context_length_exceeded|exceed_context_size|context_exceeded|model_max_prompt_tokens_exceeded|tokens_limit_reached|ContextWindowExceeded/;

/** Matches how servers report that a request does not fit into the context. */
const words: readonly RegExp[] = [
  // vLLM, OpenRouter, DeepSeek, Mistral
  /(?:maximum|model's) context length|longer than the maximum model length|exceeds? (?:the )?max_model_len/,
  // llama.cpp, MiniMax, OpenAI, Gemini, SGLang, Anthropic, Poolside
  /context (?:window|size) (?:has been )?exceed/,
  /exceed(?:s|ed)? (?:the |this |max )?(?:model'?s )?(?:available )?(?:context (?:window|size|length|limit)|maximum (?:number of tokens|allowed (?:input )?length)|max message tokens)/,
  // Anthropic, Bedrock, vLLM, xAI, Ollama, Baidu, Zhipu
  /(?:prompt|input)(?: tokens)?(?: \([^)]*\))? (?:is )?too long|maximum prompt length|prompt 超长/,
  // Kimi, GLM, DashScope, Cohere
  /exceeded model token limit|prompt exceeds max length|range of input length|too many tokens: /,
  // Vertex, Volcengine, GitHub Copilot, watsonx
  /input token count is \d+ but|input length \d+ exceeds|(?:prompt|input) tokens?(?: count)?(?: of)? \d+ (?:exceeds|cannot exceed)/,
  // SiliconFlow, TensorRT-LLM, TabbyAPI, MLC
  /prompt_tokens \(\d+\) must be less than|max_total_tokens \(\d+\) must be less than|prompt length.*(?:exceed|less than|greater than) max_(?:num_tokens|seq_len|input_len)|larger than the model input length limit/,
  // Groq, Cerebras, servers behind gateways
  /reduce the length of the (?:messages|prompt|input)|tokens in request more than max tokens/,
  // Older versions of vLLM, which subtract the request from the context
  /max_tokens must be at least 1, got -\d/,
  // LM Studio, TGI
  /(?:loaded with|greater than the) context length|max_new_tokens.*must be <=|must have less than \d+ tokens/,
];

type Refused = {
  readonly code?: unknown;
  readonly errorType?: unknown;
  readonly status?: number | undefined;
  readonly message: string;
};

/**
 * Returns whether an endpoint refuses a request because it does not fit into the context of its model. A code or a type
 * decides whatever the status and the words are.
 */
export function isContextRefusal({ code, errorType, status, message }: Refused): boolean {
  if (names.test(`${code} ${errorType} ${message}`)) return true;
  return [400, 413, 422, 500].includes(status ?? 0) && words.some((each) => new RegExp(each, 'i').test(message));
}
