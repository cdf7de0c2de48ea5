import { jsonOf } from '../engine/core/values/json.ts';
import type { ChatLine } from './chatLine.ts';

type Message = ChatLine['messages'][number];

/** Returns a rollout in a consumer's form, or null if that form cannot represent it. */
type ExportForm = (line: ChatLine) => object | null;

/** The forms of `synth export --format`. */
export const exportForms = {
  rehearsal: (line) => line,
  /** Fine-tuning of OpenAI: its keys alone, and a message of the assistant at the end. */
  openai: ({ messages, tools }) => {
    const said = upToAnswer(messages);
    if (!said.some(({ weight }) => weight === 1)) return null;
    // OpenAI refuses an empty list.
    return { messages: said.map(withoutOwnKeys), ...(tools.length > 0 ? { tools } : {}) };
  },
  /** TRL with datasets 4.8 or newer, which keeps objects of different keys apart. */
  trl: (line) => trlLine(line, line.tools, (text) => jsonOf(text) ?? text),
  /** TRL with any version of datasets: what has other keys in each row is JSON text. */
  'trl-text': (line) => trlLine(line, JSON.stringify(line.tools), (text) => text),
} as const satisfies Readonly<Record<string, ExportForm>>;

export type ExportFormat = keyof typeof exportForms;

/** TRL knows no weights: it would learn the step at which a near-miss broke its rule. A greeting is not withheld. */
function trlLine({ messages }: ChatLine, tools: unknown, readArguments: (text: string) => unknown): object | null {
  const said = upToAnswer(messages);
  const afterGreeting = said.slice(said.findIndex(({ role }) => role === 'user'));
  if (said.length === 0 || afterGreeting.some(({ weight }) => weight === 0)) return null;
  const plain = said.map((message) => {
    const { weight: _, ...own } = withoutOwnKeys(message);
    if (own.role !== 'assistant' || !own.tool_calls) return own;
    // Templates of some models join the content to other text.
    const content = own.content ?? '';
    const tool_calls = own.tool_calls.map((call) => ({
      ...call,
      function: { ...call.function, arguments: readArguments(call.function.arguments) },
    }));
    return { ...own, content, tool_calls };
  });
  return { messages: plain, tools };
}

function withoutOwnKeys(message: Message): Message {
  if (message.role !== 'assistant') return message;
  const { rehearsal_id: _, ...known } = message;
  return known;
}

/** The messages up to the last one of the assistant; none without one. */
function upToAnswer(messages: readonly Message[]): readonly Message[] {
  return messages.slice(0, messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}
