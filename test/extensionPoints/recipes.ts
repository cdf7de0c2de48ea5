/** A change of one place in a file of the repository: the text, and what replaces it. */
type Edit = readonly [before: string, after: string];

/** Describes an addition to Rehearsal: a row of CONTRIBUTING.md as code. */
export type Recipe = {
  /** The first cell of the row. */
  readonly row: string;
  readonly file: string;
  readonly text: string;
  /** The other new files. */
  readonly more?: Readonly<Record<string, string>>;
  /** The registration: changes by file. */
  readonly edits: Readonly<Record<string, readonly Edit[]>>;
  /** The registrations that the types name once the others are made. */
  readonly named?: readonly string[];
};

const core = 'src/engine/core';

export const recipes: readonly Recipe[] = [
  {
    row: 'a rule check',
    file: `${core}/rules/greets.ts`,
    text: `import type { RuleOf } from '../domain/rule.ts';
import { utterancesOf } from '../events/message.ts';
import { type Finding, held, type Moment, violated } from './finding.ts';
import type { Seen } from './seen.ts';

/** The first message of the agent has a word. */
export function greets({ word }: RuleOf<'greets'>, moment: Moment, { state }: Seen): readonly Finding[] {
  if (moment.type !== 'utterance') return [];
  const first = utterancesOf(state.messages).find(({ role }) => role === 'agent');
  if (!first || first.step !== moment.step) return [];
  return [first.content.includes(word) ? held('it greets', [first.step]) : violated(\`it does not say \${word}\`, [first.step])];
}
`,
    edits: {
      [`${core}/domain/rule.ts`]: [
        [
          "  z.strictObject({\n    ...common,\n    check: z.literal('judge')",
          "  z.strictObject({ ...common, check: z.literal('greets'), word: z.string() }),\n  z.strictObject({\n    ...common,\n    check: z.literal('judge')",
        ],
      ],
      [`${core}/rules/rules.ts`]: [
        ['import { handOff }', "import { greets } from './greets.ts';\nimport { handOff }"],
        [
          '  judge: { findings: judge,',
          '  greets: { findings: greets, isAtEnd: () => false, asksForWhen: false },\n  judge: { findings: judge,',
        ],
      ],
    },
    named: [`${core}/rules/rules.ts`],
  },
  {
    row: 'a verifier',
    file: `${core}/verifiers/brief.ts`,
    text: `import type { Verdict } from '../events/event.ts';
import type { RolloutState } from '../events/state.ts';

/** The conversation has at most 20 messages. */
export function briefVerdict({ messages, next }: RolloutState): Verdict {
  const held = messages.length <= 20;
  return { verifier: 'brief', held, detail: \`\${messages.length} messages\`, evidence: [next - 1], met: held ? 1 : 0, of: 1 };
}
`,
    edits: {
      [`${core}/domain/task.ts`]: [
        ["  'custom',\n  'judge',\n] as const", "  'custom',\n  'judge',\n  'brief',\n] as const"],
      ],
      [`${core}/verifiers/verify.ts`]: [
        ['import { communicateVerdict }', "import { briefVerdict } from './brief.ts';\nimport { communicateVerdict }"],
        [
          '  judge: {\n    verdicts:',
          '  brief: { verdicts: ({ state }) => [briefVerdict(state)], hasInput: always, isDiagnostic: never },\n  judge: {\n    verdicts:',
        ],
      ],
    },
    named: [`${core}/verifiers/verify.ts`],
  },
  {
    row: 'a seat without a model',
    file: `${core}/seats/parrot.ts`,
    text: `import type { AgentReply, SeatView } from './seat.ts';

/** An agent that repeats what the user said. */
export function parrotAgent({ messages }: SeatView): AgentReply {
  const last = messages.findLast(({ role }) => role === 'user');
  return { content: last?.role === 'user' ? \`Hello: \${last.content}\` : 'Hello', toolCalls: [] };
}
`,
    edits: {
      [`${core}/domain/seatSpec.ts`]: [
        ["agent: ['gold', 'faultyGold', 'scripted']", "agent: ['gold', 'faultyGold', 'scripted', 'parrot']"],
      ],
      'src/engine/shell/workers/modelFreeSeats.ts': [
        ['import { scriptedAgent', "import { parrotAgent } from '../../core/seats/parrot.ts';\nimport { scriptedAgent"],
        ['  scripted: scriptedReply,\n', '  scripted: scriptedReply,\n  parrot: parrotAgent,\n'],
      ],
    },
    named: ['src/engine/shell/workers/modelFreeSeats.ts'],
  },
  {
    row: 'a format of conversations',
    file: 'src/authoring/conversations/readers/pairs.ts',
    text: `import { type ConversationReader, readEach } from '../conversationReader.ts';
import { listIn, objectOf, readMessage } from '../saidMessage.ts';
import { conversationOf } from '../transcript.ts';

/** Reads rows with pairs of what the user and the agent said. */
export const pairs: ConversationReader = {
  name: 'pairs',
  label: 'pairs',
  source: 'chats',
  keys: ['pairs'],
  matches: (value) => Array.isArray(objectOf(value)['pairs']),
  read: (logs) =>
    readEach(logs, (file, { value, line }) => {
      const said = listIn(objectOf(value)['pairs']).flatMap((pair) => listIn(pair));
      const messages = said.map((content, at) => readMessage({ role: at % 2 === 0 ? 'user' : 'assistant', content }));
      return conversationOf({ file, line, id: 'one', tools: [] }, messages.map((each) => ({ ...each, line, path: 'pairs' })));
    }),
};
`,
    edits: {
      'src/authoring/conversations/readConversations.ts': [
        ['import { preference }', "import { pairs } from './readers/pairs.ts';\nimport { preference }"],
        ['  tau2Results,\n  inspectAi,', '  pairs,\n  tau2Results,\n  inspectAi,'],
      ],
    },
  },
  {
    row: 'a benchmark',
    file: 'src/benchmarks/quiz.ts',
    text: `import { type Copy, type Importer, writtenTasks } from './importer.ts';

/** Imports a benchmark of one question. */
export const quiz: Importer<Copy, 'capitals'> = {
  label: 'Quiz',
  module: 'quiz',
  howToGet: 'Write one',
  layout: 'a quiz',
  parts: ['capitals'],
  locate: (folder) => ({ folder, package: folder }),
  versionOf: () => 'quiz 1.0',
  partsIn: () => ({ names: ['capitals'], place: 'the quiz' }),
  domainOf: async (_copy, part, { notCarried }) => {
    const user = { goal: 'Ask for the capital of France.', script: ['The capital of France?'] };
    const task = { split: 'test', persona: 'asker', user, communicate: ['Paris'], evaluate: ['communicate'], train: ['communicate'] };
    return {
      head: { name: \`quiz-\${part}\`, description: 'A quiz.' },
      settings: {},
      policy: '',
      database: {},
      persona: { id: 'asker', description: 'Asks.' },
      tasks: writtenTasks('quiz', [{ origin: '1', read: { task, notCarried: ['a picture'] } }], notCarried),
    };
  },
};
`,
    edits: {
      [`${core}/domain/benchmark.ts`]: [["'acebench'] as const", "'acebench', 'quiz'] as const"]],
      'src/benchmarks/importers.ts': [
        ['import { tau1 }', "import { quiz } from './quiz.ts';\nimport { tau1 }"],
        ['bfcl, acebench }', 'bfcl, acebench, quiz }'],
      ],
    },
    named: ['src/benchmarks/importers.ts'],
  },
  {
    row: 'a source of tools',
    file: `${core}/domain/sources/clock.ts`,
    text: `import type { SourceKind } from './sourceKind.ts';

/** A tool that tells the time of a clock, which counts how often it was asked. */
export const clock: SourceKind<{ readonly type: 'clock'; readonly clock: string }> = ({ clock: name }) => ({
  runs: 'atSource',
  state: name,
  declaredAt: ['clocks', name],
  hosted: null,
  nameThere: undefined,
  isInFiles: false,
  isForeign: false,
  isRepeatable: true,
  simulation: null,
  label: \`clock \${name}\`,
});
`,
    more: {
      'src/engine/shell/tools/clockProvider.ts': `import type { Tool } from '../../core/domain/tool.ts';
import type { ProviderContext, ToolProvider } from './toolProvider.ts';

/** Provides the tool of each clock. */
export function clockProvider({ domain: { file } }: ProviderContext): ToolProvider {
  const toolOf = (clock: string): Tool => ({
    name: \`ask_\${clock}\`,
    description: 'Tells the time.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    effect: 'write',
    owner: 'agent',
    source: { type: 'clock', clock },
    timeoutMs: 1000,
    idempotent: true,
  });
  return {
    describe: async () => Object.keys(file.clocks).map(toolOf),
    open: async ({ isWanted, add }) => {
      for (const [name, { shows }] of Object.entries(file.clocks)) {
        if (!isWanted(name)) continue;
        let asked = 0;
        add(name, {
          tools: [toolOf(name)],
          call: async () => {
            asked += 1;
            return { content: \`it is \${shows}\`, isError: false };
          },
          read: async () => ({ asked }),
          close: async () => undefined,
        });
      }
    },
  };
}
`,
    },
    edits: {
      [`${core}/domain/sources/sources.ts`]: [
        ['import { code }', "import { clock } from './clock.ts';\nimport { code }"],
        ['mcp, environment, simulated };', 'mcp, environment, simulated, clock };'],
      ],
      [`${core}/domain/sources/sourceKind.ts`]: [
        ["['mcpServers', 'environments'] as const", "['mcpServers', 'environments', 'clocks'] as const"],
      ],
      [`${core}/domain/domain.ts`]: [
        [
          '  environments: z\n    .record(',
          "  clocks: z\n    .record(z.string(), z.strictObject({ shows: z.string(), state: z.literal('none').default('none') }))\n    .default({}),\n  environments: z\n    .record(",
        ],
        [
          '  environments: ({ environments }) => Object.keys(environments),\n',
          '  environments: ({ environments }) => Object.keys(environments),\n  clocks: ({ clocks }) => Object.keys(clocks),\n',
        ],
      ],
      'src/engine/shell/tools/providers.ts': [
        [
          'import { environmentProvider }',
          "import { clockProvider } from './clockProvider.ts';\nimport { environmentProvider }",
        ],
        ['  mcp: mcpProvider,\n', '  mcp: mcpProvider,\n  clock: clockProvider,\n'],
      ],
      'src/engine/shell/approvals/effects.ts': [
        [
          '  code: { effectsOf',
          `  clock: {
    effectsOf: ({ clocks }) =>
      Object.keys(clocks).map((name) => ({ type: 'address', by: \`clock "\${name}"\`, url: 'http://clock', headers: {} })),
    filesOf: () => [],
  },
  code: { effectsOf`,
        ],
      ],
    },
    named: [`${core}/domain/domain.ts`, 'src/engine/shell/tools/providers.ts', 'src/engine/shell/approvals/effects.ts'],
  },
  {
    row: 'a training target',
    file: 'src/cli/targets/nowhere.ts',
    text: `import { Fault } from '../../engine/shell/files/fault.ts';
import type { Target } from './target.ts';

const refuse = () => Promise.reject(new Fault({ who: 'environment', code: 'target/nowhere', message: 'nowhere has no machine' }));

/** A target without a machine. */
export const nowhereTarget = (): Target => ({ name: 'nowhere', preflight: refuse, follow: refuse, stop: refuse, fetch: refuse });
`,
    edits: {
      'src/cli/targets/targets.ts': [
        ['import { rayTarget }', "import { nowhereTarget } from './nowhere.ts';\nimport { rayTarget }"],
        ["    case 'ssh':\n", "    case 'nowhere':\n      return nowhereTarget();\n    case 'ssh':\n"],
      ],
    },
  },
  {
    row: 'a command',
    file: 'src/cli/commands/hello.ts',
    text: `import { type Command, defineCommand } from '../options/command.ts';
import { json, text } from '../options/option.ts';

export const hello: Command = defineCommand({
  name: 'hello',
  takes: 0,
  summary: 'greet',
  usage: '[options]',
  about: '',
  options: { name: text('NAME', 'who is greeted'), json },
  run: async ({ name }, _places, io) => {
    io.out(\`Hello \${name ?? 'you'}\\n\`);
    return 0;
  },
});
`,
    edits: {
      'src/cli/commands.ts': [
        [
          '  doctor: async () =>',
          "  hello: async () => (await import('./commands/hello.ts')).hello,\n  doctor: async () =>",
        ],
      ],
    },
  },
  {
    row: 'a view',
    file: 'src/webview/hello/view.tsx',
    text: `import type { Bridge } from '../parts/bridge.ts';

export function HelloView(_properties: { bridge: Bridge }) {
  return <p>Hello</p>;
}
`,
    edits: {
      'src/webview/messages/protocol.ts': [
        ["  'trainingText',\n] as const", "  'trainingText',\n  'hello',\n] as const"],
      ],
      'src/webview/main.tsx': [
        ['import type { ViewId }', "import { HelloView } from './hello/view.tsx';\nimport type { ViewId }"],
        ['  trainingText: TrainingTextView,\n', '  trainingText: TrainingTextView,\n  hello: HelloView,\n'],
      ],
    },
    named: ['src/webview/main.tsx'],
  },
  {
    row: 'a diagnostic',
    file: 'src/engine/shell/checks/checkTitle.ts',
    text: `import type { Parts } from '../load/loadedDomain.ts';
import { placeOf } from '../source/items.ts';
import type { Note } from '../source/note.ts';

/** Notes a domain whose name begins with "my". */
export function checkTitle({ file }: Parts, note: Note): void {
  if (file.value.name.startsWith('my'))
    note(placeOf(file, 'name'), 'info', 'domain/my-name', 'The name begins with "my".', 'Choose another name.');
}
`,
    edits: {
      'src/engine/shell/checks/crossCheck.ts': [
        ['import { checkTools }', "import { checkTitle } from './checkTitle.ts';\nimport { checkTools }"],
        ['  checkSeats(parts, folder, note);\n', '  checkSeats(parts, folder, note);\n  checkTitle(parts, note);\n'],
      ],
    },
  },
];
