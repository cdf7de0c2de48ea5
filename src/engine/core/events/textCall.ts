import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { objectsInText } from '../values/jsonInText.ts';

/** Marks, by model family, of a call in a text, which the model's server should have parsed. */
const marks = [
  // Qwen, Hermes, GLM, Granite, Llama, FunctionGemma, Gemma 4
  '<tool_call>',
  '<|tool_call|>',
  '<function=',
  '<|python_tag|>',
  '<start_function_call>',
  '<|tool_call>',
  '✿FUNCTION✿',
  // Jamba and Hunyuan, Nemotron, LFM2, Seed, LongCat, InternLM, DeepSeek since 3.2
  '<tool_calls>',
  '<TOOLCALL>',
  '<|tool_call_start|>',
  '<seed:tool_call>',
  '<longcat_tool_call>',
  '<|action_start|>',
  '<｜DSML｜',
  // Mistral, DeepSeek, Kimi, MiniMax, Cohere, Phi, LM Studio
  '[TOOL_CALLS]',
  '<｜tool▁calls▁begin｜>',
  '<|tool_calls_section_begin|>',
  '<minimax:tool_call>',
  '<|START_ACTION|>',
  'functools[',
  '[TOOL_REQUEST]',
  // Claude and gpt-oss behind other servers, Gemma
  '<function_calls>',
  '<invoke name=',
  'to=functions.',
  '```tool_code',
];

/** A text that is a call in Python, alone or as the first of a list. */
const inPython = /^\[?([\w.-]+)\(.*\)\]?$/s;
const inFence = /^\s*```\w*\n(.*)\n```\s*$/s;
const inReact = /^Action: *([\w.-]+)\s+Action Input:/m;

/**
 * Returns whether a text has a call of a tool, in a form of some model, as JSON, or as the whole text in Python.
 * @param tools the names of the tools that are offered
 */
export function hasTextCall(text: string, tools: readonly string[]): boolean {
  if (tools.length === 0) return false;
  if (marks.some((mark) => text.includes(mark))) return true;
  const [, fenced = text] = inFence.exec(text) ?? [];
  const [, called = ''] = inPython.exec(fenced.trim()) ?? inReact.exec(text) ?? [];
  if (tools.includes(called)) return true;
  const objects = objectsInText(text);
  if (objects.some((object) => isNamedByKey(object, tools))) return true;
  const calls = objects.flatMap(callsWithin);
  return calls.some((call) => nameFields.some((field) => tools.some((tool) => tool === call[field])));
}

/**
 * The fields for the name and the arguments of a call, also those of Command R and of agents that learned ReAct in
 * JSON.
 */
const nameFields = ['name', 'tool_name', 'function_name', 'tool', 'function', 'action'];
const argumentFields = ['arguments', 'parameters', 'args', 'action_input', 'tool_input'];

/** Whether an object has the arguments of a call under the name of its tool alone. */
function isNamedByKey(object: JsonObject, tools: readonly string[]): boolean {
  const [name = '', ...others] = Object.keys(object);
  return others.length === 0 && tools.includes(name) && isObject(object[name]);
}

/** Returns the objects that can be a call: the given object, its `function`, or its list of calls. */
function callsWithin(object: JsonObject): readonly JsonObject[] {
  const calls = [object, object['tool_calls']].flat() as readonly (Json | undefined)[];
  return calls
    .flatMap((call) => [call, isObject(call) ? call['function'] : undefined])
    .filter((each): each is JsonObject => isObject(each) && argumentFields.some((field) => field in each));
}
