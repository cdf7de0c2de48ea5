import { stringify } from 'yaml';
import { isToolName, type Offered } from '../../engine/core/domain/tool.ts';
import type { ToolCall } from '../../engine/core/events/message.ts';
import { capitalized } from '../../engine/core/text/capitalized.ts';
import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import { yamlScalar } from '../../engine/shell/source/edit.ts';
import { type Conversation, type Read, type ReadConversations, systemOf } from '../conversations/conversation.ts';
import { maskedConversation, maskedProblems, piecesOf, piecesOfPersons } from '../conversations/maskedConversation.ts';
import type { RecognisedNames } from '../conversations/recogniser.ts';
import { type Masker, maskerOf } from '../masking/masker.ts';
import { taskIdFor } from '../writtenDomain.ts';
import { spacedName } from './exampleArguments.ts';
import { plainPersonaText } from './mcpDomain.ts';
import type { Files } from './newFolder.ts';
import { schemaOf } from './seenSchema.ts';
import { soundsReading } from './soundsReading.ts';

/** Results of a tool that its simulator receives, and how much of each. */
const mostExamples = 3;
const mostSigns = 600;

export type ChatsDomainOptions = {
  readonly name: string;
  readonly now: string;
  readonly read: ReadConversations;
  /** The model that answers for the tools; null leaves it to be filled in. */
  readonly simulator: string | null;
  /** Names that a recogniser found in the texts of the conversations. */
  readonly recognised?: RecognisedNames | undefined;
  /** The seed from which the stand-ins for personal data are drawn; null keeps the data unchanged. */
  readonly seed: string | null;
};

export type ChatsDomain = {
  readonly files: Files;
  readonly tools: readonly { readonly name: string; readonly isWrite: boolean; readonly isDeclared: boolean }[];
  /** Names in the logs that no tool can have. */
  readonly misnamed: readonly string[];
  /** Conversations that begin with the text that became the policy; null where none has a system message. */
  readonly policyOf: number | null;
  readonly masked: ReturnType<Masker['counts']> | null;
} & Pick<Read, 'problems' | 'notes'>;

/** A call of the logs, with what came back. */
type Seen = { readonly arguments: JsonObject; readonly result: string | null };

/**
 * Returns the files of a domain whose policy and tools come from recorded conversations, as far as a log shows them.
 */
export function chatsDomain(options: ChatsDomainOptions): ChatsDomain {
  const { seed, read } = options;
  const recognised = options.recognised && { recognised: options.recognised.spansIn };
  const masker = seed === null ? null : maskerOf({ seed, ...recognised });
  const pieces = read.conversations.map(piecesOf);
  masker?.look(piecesOfPersons(read));
  for (const each of pieces) masker?.look(each);
  const conversations = read.conversations.map((each, at) =>
    masker ? maskedConversation(each, masker.conversation(pieces[at] ?? [])) : each,
  );
  const declared = new Map(conversations.flatMap(({ tools = [] }) => tools.map((tool) => [tool.name, tool] as const)));
  const seen = seenIn(conversations);
  const names = [...new Set([...declared.keys(), ...seen.keys()])];
  const usable = names.filter(isToolName);
  const policy = policyIn(conversations);
  const taken = new Set<string>();
  const tools = usable.map((name) => ({ name, isWrite: !soundsReading(name), isDeclared: declared.has(name) }));
  return {
    files: {
      'domain.yaml': domainText(options),
      'policy.md': policy?.text ?? policyStub(options.name, usable),
      'rules.yaml': rulesText,
      'database.json': '{}\n',
      'personas/plain.persona.yaml': plainPersonaText,
      ...Object.fromEntries(
        tools.map(({ name, isWrite }) => [
          `tools/${fileName(name, taken)}.tool.yaml`,
          toolText(name, isWrite, declared.get(name), seen.get(name) ?? []),
        ]),
      ),
    },
    tools,
    misnamed: names.filter((name) => !isToolName(name)),
    policyOf: policy?.count ?? null,
    masked: masker?.counts() ?? null,
    problems: [
      ...maskedProblems(read.problems, masker?.conversation([])),
      ...conversations.flatMap(({ lost }) => lost),
    ],
    notes: maskedProblems(read.notes, masker?.conversation([])),
  };
}

/** Names of tools that differ in their case alone have a file each, also where a disk takes these for the same. */
function fileName(tool: string, taken: Set<string>): string {
  const free = taskIdFor(tool.toLowerCase(), taken);
  return free.length === tool.length ? tool : free;
}

function seenIn(conversations: readonly Conversation[]): ReadonlyMap<string, readonly Seen[]> {
  const seen = new Map<string, Seen[]>();
  for (const { messages } of conversations) {
    const resultOf = (call: ToolCall) => {
      const answer = messages.find((each) => each.role === 'tool' && each.callId === call.id);
      return answer?.role === 'tool' ? answer.content : null;
    };
    for (const message of messages)
      for (const call of message.role === 'agent' ? message.calls : []) {
        const given = isObject(call.arguments as Json) ? (call.arguments as JsonObject) : {};
        const own = { arguments: given, result: resultOf(call) };
        const calls = seen.get(call.name);
        if (calls) calls.push(own);
        else seen.set(call.name, [own]);
      }
  }
  return seen;
}

/** The system message that most conversations have; of those with as many, the one that came first. */
function policyIn(conversations: readonly Conversation[]) {
  const counts = new Map<string, { readonly text: string; count: number }>();
  for (const conversation of conversations) {
    const text = systemOf(conversation)?.trim();
    if (!text) continue;
    const key = text.replace(/\s+/g, ' ');
    const known = counts.get(key);
    if (known) known.count += 1;
    else counts.set(key, { text: `${text}\n`, count: 1 });
  }
  return [...counts.values()].toSorted((a, b) => b.count - a.count)[0];
}

function domainText({ name, now, simulator, read: { conversations } }: ChatsDomainOptions): string {
  return [
    `name: ${yamlScalar(name)}`,
    `description: ${yamlScalar(`Made of ${conversations.length} recorded conversations.`)}`,
    `now: ${JSON.stringify(now)} # the date that the agent sees`,
    'turnCap: 20',
    simulator === null
      ? '# simulator: openai:MODEL # a model answers for the tools in tools/; name it here'
      : `simulator: ${yamlScalar(simulator)} # answers for the tools in tools/`,
    '',
  ].join('\n');
}

function policyStub(name: string, tools: readonly string[]): string {
  return [
    `# ${name}`,
    '',
    'No conversation of the log has a system message, so write here what the agent must follow: who it is, who it talks to,',
    'and what it never does. This text is its system prompt.',
    '',
    ...(tools.length > 0 ? ['## What you can do', '', ...tools.map((tool) => `- \`${tool}\``), ''] : []),
  ].join('\n');
}

const rulesText = `# What a machine can check of policy.md. Mark a rule there with {#id} after its text, and name it here:
# rules:
#   - rule: confirm-before-write
#     check: confirmed
#     tools: writes
rules: []
`;

const guess = 'review: a log does not say whether it changes anything; this is by its name';

function toolText(name: string, isWrite: boolean, declared: Offered | undefined, seen: readonly Seen[]): string {
  const results = [...new Set(seen.flatMap(({ result }) => (result === null || result === '' ? [] : [result])))];
  const examples = results.slice(0, mostExamples).map((each) => `- ${cut(each)}`);
  const tool = {
    name,
    description: declared?.description.trim() || asSentence(spacedName(name)),
    effect: isWrite ? 'write' : 'read',
    parameters: declared?.parameters ?? schemaOf(seen.map((each) => each.arguments)),
    behaviour: [
      'Answer as the real system does.',
      ...(examples.length > 0 ? ['In recorded conversations it answered, for example:', ...examples] : []),
    ].join('\n'),
  };
  const text = stringify(tool, { lineWidth: 0, aliasDuplicateObjects: false });
  const from = declared
    ? 'the definition in the log'
    : `${seen.length === 1 ? 'one call' : `${seen.length} calls`} in the log`;
  const hint = isWrite
    ? '# Say with `reads:` and `writes:` which rows its simulator sees and may change, as orders.{order_id}.\n'
    : '# Say with `reads:` which rows its simulator sees, as orders.{order_id}.\n';
  return `# A simulated tool, made of ${from}.\n${hint}${text.replace(/^effect: \w+$/m, (line) => `${line} # ${guess}`)}`;
}

const asSentence = (words: string) => `${capitalized(words)}.`;

const cut = (text: string) => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > mostSigns ? `${line.slice(0, mostSigns)}...` : line;
};
