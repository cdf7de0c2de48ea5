import { personaSchema } from '../../../src/engine/core/domain/persona.ts';
import { taskSchema } from '../../../src/engine/core/domain/task.ts';
import type { Ran, Shown, ViewId } from '../../../src/webview/messages/protocol.ts';
import type { Theme } from './themes.ts';
import { until } from './until.ts';
import type { ViewPage } from './viewPage.ts';

type Open = (view: ViewId, theme: Theme) => Promise<ViewPage>;
type Looked = (theme: Theme) => Promise<ViewPage>;

const frame = {
  type: 'shown',
  isTrusted: true,
  hasText: true,
  refusal: null,
  broken: null,
  index: 0,
  errors: [] as Shown['errors'],
  isRunEarlier: false,
} as const;

/** The message of the extension that shows a persona with every kind of content. */
export const personaShown: Shown = {
  ...frame,
  name: 'two.persona.yaml',
  items: [
    { label: 'hurried', problem: null },
    { label: 'other', problem: { message: 'patience is missing.', line: 7 } },
  ],
  content: {
    editor: 'persona',
    base: [0],
    persona: personaSchema.parse({
      id: 'hurried',
      description: 'Types on the way to the train.',
      behaviours: { omits: true, interrupts: { chance: 0.5, from: 2 }, evades: true },
      attacks: [{ aim: 'Get a refund twice.', say: ['Refund it again.'], wants: 'deed', breach: 'It did.' }],
    }),
    prompt: 'You play a customer.\nWhat you want: a refund.',
    tasks: ['first', 'second'],
    own: 1,
    task: 'first',
    model: 'small-model',
  },
};

const unchecked = { checks: [], tasks: [], taskCount: 0, isAlwaysTried: false, result: null, isHeading: false };

/** The message of the extension that shows a policy with a rule of each kind. */
export const policyShown: Shown = {
  ...frame,
  name: 'policy.md',
  items: [{ label: 'policy', problem: null }],
  content: {
    editor: 'policy',
    hasDomain: true,
    problems: [{ message: '{#x} is in a paragraph.', line: 3 }],
    sections: [
      { title: null, line: 1, notes: [{ text: 'You help customers.', line: 1 }], rules: [] },
      {
        title: 'Orders',
        line: 4,
        notes: [],
        rules: [
          {
            isHeading: false,
            line: 5,
            id: 'look-first',
            text: 'Look the order up\nbefore you change it.',
            plain: 'Look the order up before you change it.',
            checks: [
              {
                index: 0,
                check: 'before',
                gate: true,
                layer: 'safety',
                file: 'rules.yaml',
                line: 3,
                says: 'tools: writes\nrequire: get_order',
              },
            ],
            tasks: ['first', 'second'],
            taskCount: 14,
            isAlwaysTried: false,
            result: { held: 3, violated: 1, unknown: 1, recording: 'first.0' },
          },
          { ...unchecked, line: 8, id: 'polite', text: 'Be polite.', plain: 'Be polite.' },
          { ...unchecked, line: 9, id: null, text: 'Say goodbye.', plain: 'Say goodbye.' },
          { ...unchecked, line: 10, id: 'within', text: null, plain: 'Its id is within the text.' },
        ],
      },
    ],
  },
};

const refundSchema = {
  type: 'object',
  properties: {
    order_id: { type: 'string', description: 'Number of the order.', pattern: '^W' },
    amount: { type: 'number', minimum: 1 },
    reason: { enum: ['late', 'broken'] },
    items: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] } },
    to: {
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'card' }, last4: { type: 'string' } },
          required: ['kind', 'last4'],
        },
        { type: 'object', properties: { kind: { const: 'voucher' } }, required: ['kind'] },
      ],
    },
    urgent: { type: 'boolean' },
  },
  required: ['order_id', 'to'],
  additionalProperties: false,
};

const refund = {
  name: 'refund',
  owner: 'agent',
  effect: 'write',
  description: 'Pays money back.',
  parameters: refundSchema,
} as const;

/** The message of the extension that shows a tool of code with nested arguments. */
export const toolShown: Shown = {
  ...frame,
  hasText: false,
  name: 'desk',
  items: [{ label: 'refund', problem: null }],
  content: {
    editor: 'tool',
    base: null,
    tool: { ...refund, parameters: { ...refundSchema } },
    source: 'code',
    limits: [{ name: 'Timeout', value: '30000 ms' }],
    simulated: null,
    examples: [{ task: 'first', arguments: { order_id: 'W1', to: { kind: 'card', last4: '1234' } } }],
    tasks: ['first'],
    untriable: null,
    undescribed: null,
  },
};

/** The message of the extension that shows a tool that is a file. */
export const simulatedShown: Shown = {
  ...frame,
  name: 'refund.tool.yaml',
  items: [{ label: 'refund', problem: null }],
  content: {
    editor: 'tool',
    base: [],
    tool: { ...refund, parameters: { ...refundSchema } },
    source: 'simulated',
    limits: [],
    simulated: {
      behaviour: 'Answers with a receipt.',
      result: { type: 'object' },
      reads: ['orders.{order_id}'],
      writes: [],
      limits: { timeoutMs: 5000, rateLimit: { calls: 2, perMs: 1000 } },
    },
    examples: [],
    tasks: [],
    untriable: 'A model answers for this tool, and domain.yaml names none.',
    undescribed: null,
  },
};

const ran: Omit<Ran, 'outcome'> = { type: 'ran', isRunning: false, note: '', problem: null };
const refunded = [
  {
    side: 'agent' as const,
    patches: [{ op: 'replace' as const, path: ['orders', 'W1', 'status'], value: 'refunded', old: 'paid' }],
  },
];

const called: Ran = {
  ...ran,
  outcome: {
    type: 'called',
    tool: 'refund',
    task: null,
    arguments: { order_id: 'W1' },
    isError: false,
    content: '{"paid":12}',
    writes: refunded,
  },
};

/** The message of the extension that shows a task with every kind of content. */
export const taskShown: Shown = {
  ...frame,
  name: 'two.task.yaml',
  items: [
    { label: 'first', problem: null },
    { label: 'second', problem: null },
  ],
  content: {
    editor: 'task',
    base: [0],
    task: taskSchema.parse({
      id: 'first',
      persona: 'hurried',
      user: {
        goal: 'You want your money back.',
        known: { order_id: 'W1', reason: { value: 'late', say: 'it came late' }, count: 2 },
        unknown: ['email'],
        change: { when: 'proposed', say: 'A voucher will do.', known: { to: 'voucher' } },
      },
      state: [{ path: ['orders', 'W1', 'status'], value: 'paid' }],
      actions: [
        { tool: 'refund', arguments: { order_id: 'W1', to: { kind: 'card', last4: '1234' } } },
        { tool: 'refund', arguments: { order_id: 1 } },
      ],
      assertions: [{ path: 'orders.W1.status', equals: 'refunded' }],
      communicate: ['5 days'],
      script: ['Hello.'],
    }),
    personas: ['hurried', 'patient'],
    tools: [{ ...refund, parameters: { ...refundSchema } }],
    undescribed: null,
    misfits: [{ path: [1, 'order_id'], message: 'order_id must be of type string.' }],
    others: ['script'],
  },
};

const goldPlayed: Ran = {
  ...ran,
  outcome: {
    type: 'goldPlayed',
    task: 'first',
    reward: 0,
    reason: 'database: 1 place differs',
    failedBy: 'agent',
    turns: 4,
    writes: refunded,
    card: [
      {
        layer: 'outcome',
        verdict: 'violated',
        items: [{ name: 'database', verdict: 'violated', reason: 'no', evidence: [] }],
      },
      {
        layer: 'policy',
        verdict: 'held',
        items: [{ name: 'confirm', verdict: 'held', reason: 'asked', evidence: [] }],
      },
    ],
  },
};

/** Returns, for each visual editor, a function that opens it with sample content. */
export function lookedEditors(open: Open): {
  readonly [View in 'personaEditor' | 'policyEditor' | 'toolEditor' | 'taskEditor']: Looked;
} {
  return {
    personaEditor: async (theme) => {
      const view = await open('personaEditor', theme);
      await view.send(
        { type: 'editor', message: personaShown },
        {
          type: 'editor',
          message: {
            type: 'ran',
            isRunning: false,
            note: '',
            problem: null,
            outcome: {
              type: 'previewed',
              task: 'first',
              agent: 'the gold seat',
              user: 'agenda',
              messages: [
                { who: 'user', text: 'I want my money back.' },
                { who: 'agent', text: 'Which order is it about?' },
                { who: 'note', text: 'get_order(W1)' },
              ],
            },
          },
        },
      );
      await view.page.getByText('The exact prompt of the first message').click();
      await view.page.getByText('I want my money back.').waitFor();
      return view;
    },
    policyEditor: async (theme) => {
      const view = await open('policyEditor', theme);
      await view.send({ type: 'editor', message: policyShown });
      await view.page.getByText('before', { exact: true }).click();
      await view.page.getByText('require: get_order').waitFor();
      return view;
    },
    toolEditor: async (theme) => {
      const view = await open('toolEditor', theme);
      await view.send({ type: 'editor', message: toolShown }, { type: 'editor', message: called });
      await view.page.getByRole('button', { name: 'Add item to items' }).click();
      await view.page.getByLabel('to: variant').selectOption({ label: 'kind: card' });
      await view.page.getByLabel('amount (optional)').fill('none');
      await view.page.getByRole('button', { name: 'Call refund' }).focus();
      const { question } = await until('the question', async () => {
        const asked = await newestQuestion(view);
        if (!('amount' in asked.arguments)) throw new Error('it is about what was there before');
        return asked;
      });
      const misfits = [{ path: ['amount'], message: 'amount must be of type number.' }];
      await view.send({ type: 'editor', message: { type: 'callChecked', question, misfits } });
      await view.page.getByText('amount must be of type number.').waitFor();
      return view;
    },
    taskEditor: async (theme) => {
      const view = await open('taskEditor', theme);
      await view.send({ type: 'editor', message: taskShown }, { type: 'editor', message: goldPlayed });
      await view.page.getByText('What it changed').waitFor();
      return view;
    },
  };
}

type Question = { readonly type: 'checkCall'; readonly question: number; readonly arguments: object };

/** Returns the last question that Try it of a tool has asked the extension. */
export async function newestQuestion(view: ViewPage): Promise<Question> {
  const asked = (await view.posted()).flatMap((message) =>
    message.type === 'editor' && message.message.type === 'checkCall' ? [message.message] : [],
  );
  const newest = asked.at(-1);
  if (!newest) throw new Error('nothing was asked yet');
  return newest;
}
