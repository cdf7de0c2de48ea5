import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Task } from '../../../../src/engine/core/domain/task.ts';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import type { Message } from '../../../../src/engine/core/events/message.ts';
import { goldAgent } from '../../../../src/engine/core/seats/gold.ts';
import { scriptedAgent } from '../../../../src/engine/core/seats/scripted.ts';
import type { JsonObject } from '../../../../src/engine/core/values/json.ts';
import { callTool } from '../../../support/desk.ts';
import { runs } from '../../../support/runs.ts';
import { converse, domain, personas, taskWith, transcript, viewOf } from '../conversation.ts';

const change = (when: 'proposed' | 'done') => ({
  when,
  say: 'Sorry, I would rather have blue.',
  known: { colour: 'blue' },
});
const blue = [
  { tool: 'look', arguments: { chair: 'A1' } },
  { tool: 'paint', arguments: { chair: 'A1', colour: 'blue' } },
];
const twoChairs = {
  user: {
    opening: 'Please paint A1 red and B2 white.',
    known: { chair: 'A1', colour: 'red', other_chair: 'B2', other_colour: 'white' },
  },
  actions: [
    { tool: 'paint', arguments: { chair: 'A1', colour: 'red' } },
    { tool: 'paint', arguments: { chair: 'B2', colour: 'white' } },
  ],
};

const paintOf = (chair: string) => ({ tool: 'paint', arguments: { chair, colour: 'red' } });
const [look, paint] = domain.tools;
/** The desk with tools that find chairs by colour and polish them. */
const finding = {
  ...domain,
  tools: [
    ...domain.tools,
    { ...(look as Tool), name: 'find', parameters: { type: 'object', properties: { colour: { type: 'string' } } } },
    { ...(paint as Tool), name: 'polish', parameters: { type: 'object', properties: { chair: { type: 'string' } } } },
  ],
} satisfies typeof domain;
const callFinding: typeof callTool = (tool, call, context) => {
  const { colour, chair } = call.arguments as { colour?: string; chair?: string };
  if (tool.name === 'polish')
    return callTool(tool, { ...call, arguments: { chair, colour: 'white' } as never }, context);
  if (tool.name !== 'find') return callTool(tool, call, context);
  return { content: JSON.stringify({ chair: colour === 'blue' ? 'A1' : 'B2' }), isError: false, writes: [] };
};

const problems: readonly ((persona: string) => Task)[] = [
  (persona) => taskWith({ persona }),
  (persona) => taskWith({ persona, user: { opening: undefined } }),
  (persona) => taskWith({ persona, user: { opening: 'My chair needs paint.' } }),
  (persona) => taskWith({ persona, user: { insist: { say: 'I want it done for free.' } } }),
  (persona) => taskWith({ persona, user: { insist: { say: "Please paint the neighbour's chair as well." } } }),
  (persona) =>
    taskWith({
      persona,
      ...(persona.endsWith('changes') ? { user: { change: change('proposed') }, actions: blue } : {}),
    }),
  (persona) => taskWith({ persona, actions: [...blue.slice(0, 1), { tool: 'leave', arguments: {} }] }),
  (persona) =>
    taskWith({ persona, ...twoChairs, actions: [{ tool: 'look', arguments: { chair: 'A1' } }, ...twoChairs.actions] }),
];

describe('gold against agenda', () => {
  it('ends with reward 1 and every rule held, with any user', async () => {
    const cases = fc.record({
      problem: fc.constantFrom(...problems),
      persona: fc.constantFrom(...personas),
      seed: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ problem, persona, seed }) => {
        const state = await converse(problem(persona.id), String(seed));
        const shown = transcript(state).join('\n');
        expect(['userStopped', 'handedOff'], shown).toContain(state.ended?.reason);
        expect(state.reward, shown).toMatchObject({ value: 1 });
        expect(
          state.ruleVerdicts.filter(({ verdict }) => verdict === 'violated'),
          shown,
        ).toEqual([]);
      }),
      { numRuns: runs(75) },
    );
  });

  it('completes the first request before a later change of it', async () => {
    const state = await converse(
      taskWith({
        persona: 'plain-changes',
        user: { change: change('done') },
        actions: blue,
        evaluate: ['assertions'],
        assertions: [{ path: 'chairs.A1.colour', equals: 'blue' }],
      }),
    );
    expect(transcript(state).filter((line) => line.startsWith('paint'))).toEqual([
      'paint {"chair":"A1","colour":"red"}',
      'paint {"chair":"A1","colour":"blue"}',
    ]);
    expect(state.reward?.value).toBe(1);
  });

  const find = { tool: 'find', arguments: { colour: 'green' } };
  it.each<[string, Task['user']['known'], readonly { tool: string; arguments: JsonObject }[], string[]]>([
    ['a write takes too', { chair: 'B2' }, [{ tool: 'look', arguments: { chair: 'B2' } }, paintOf('B2')], []],
    ['no write takes', { colour: 'green' }, [find, { tool: 'polish', arguments: { chair: 'B2' } }], []],
    ['is all that the user asks about', { colour: 'green' }, [find], ['B2']],
  ])('serves a change of the argument of a read, which %s', async (_, known, actions, communicate) => {
    const task = taskWith({
      persona: 'plain-changes',
      user: {
        goal: 'You ask about a chair.',
        opening: communicate.length > 0 ? 'Which chair is blue?' : 'Something for chair A1, which is blue, in red.',
        known: { ...(communicate.length > 0 ? {} : { chair: 'A1' }), colour: 'blue', paint: 'red' },
        change: { when: 'proposed', say: `Sorry, I mean ${Object.values(known).join()}.`, known },
      },
      actions,
      communicate,
    });
    const state = await converse(task, '1', [], finding, callFinding);
    const lines = transcript(state);
    const calls = lines.filter((line) => !/^(?:agent|user):/.test(line));
    const [read = '', ...rest] = actions.map(({ tool, arguments: given }) => `${tool} ${JSON.stringify(given)}`);
    const former = read.replace('B2', 'A1').replace('green', 'blue');
    expect(calls, lines.join('\n')).toEqual([former, read, ...rest]);
    expect(lines.slice(0, lines.indexOf(read)).join('\n')).not.toContain('agent: B2');
    expect(state.reward?.value, lines.join('\n')).toBe(1);
  });

  it('says different words with another seed', async () => {
    const texts = await Promise.all(
      Array.from({ length: 20 }, async (_, seed) =>
        transcript(await converse(taskWith({ persona: 'plain-omits' }), String(seed))).join(),
      ),
    );
    expect(new Set(texts).size).toBeGreaterThan(10);
  });
});

describe('the gold seat', () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    ['asks for what it needs', { persona: 'plain-omits', user: { opening: 'My chair needs paint.' } }, /chair number/],
    ['does not ask for facts that were given', {}, /^look/],
  ])('%s', async (_, draft, first) => {
    const [, answer] = transcript(await converse(taskWith(draft)));
    expect(answer?.replace('agent: ', '')).toMatch(first);
  });

  it.each<[string, Parameters<typeof converse>[2], number]>([
    ['a proposal of a person', [{ look: { chair: 'A1' } }, 'I can make A1 red. Does that sound good?'], 1],
    ['a question of a person', ['Which chair is it?'], 1],
    ['words that lead nowhere', ['Hello!', 'What a day.'], 1],
    ['a write without a yes', [{ look: { chair: 'A1' } }, { paint: { chair: 'A1', colour: 'red' } }], 0],
    ['a call that failed', [{ look: { chair: 'Z9' } }], 1],
  ])('continues from %s', async (_, script, reward) => {
    const state = await converse(taskWith(), '1', script);
    expect(state.ended?.reason, transcript(state).join('\n')).toBe('userStopped');
    expect(state.reward?.value, transcript(state).join('\n')).toBe(reward);
  });

  it('makes the call that a person proposed and the user agreed to at once', async () => {
    const state = await converse(taskWith(), '1', [
      { look: { chair: 'A1' } },
      'I can make A1 red. Does that sound good?',
    ]);
    expect(transcript(state).slice(-3)[0]).toBe('paint {"chair":"A1","colour":"red"}');
  });

  it('asks once for a yes where the words of a proposal lack a value', async () => {
    const { tools, ...words } = domain.lexicon;
    const propose = ['Shall I paint {chair}?'];
    const lexicon = { ...words, tools: { paint: { ...(tools['paint'] as (typeof tools)[string]), propose } } };
    const state = await converse(taskWith(), '1', [], { ...domain, lexicon });
    expect(transcript(state)).toContain('agent: This is with colour red. Shall I paint A1?');
    expect(state.reward?.value).toBe(1);
  });

  it('asks in the words of the domain alone where no other domain proposes so', async () => {
    const { tools, ...words } = domain.lexicon;
    const propose = ['Shall I put you down for {colour} on {chair}?'];
    const lexicon = { ...words, tools: { paint: { ...(tools['paint'] as (typeof tools)[string]), propose } } };
    const state = await converse(taskWith(), '1', [], { ...domain, lexicon });
    expect(transcript(state)).toContain('agent: Shall I put you down for red on A1?');
    expect(state.reward?.value).toBe(1);
  });

  it('tries again after a temporary fault, and hands over after any other', async () => {
    const faulty = (text: string, times: number): typeof callTool => {
      let left = times;
      return (tool, call, context) =>
        tool.name === 'paint' && left-- > 0
          ? { content: `Error: ${text}`, isError: true, writes: [] }
          : callTool(tool, call, context);
    };
    const recovered = await converse(taskWith(), '1', [], domain, faulty('temporarily unavailable', 2));
    const lost = await converse(taskWith(), '1', [], domain, faulty('the chair is gone', 9));
    expect([recovered.reward?.value, recovered.ended?.reason, lost.ended?.reason]).toEqual([
      1,
      'userStopped',
      'handedOff',
    ]);
  });

  it('refuses if no action is right, and communicates the required facts', async () => {
    const state = await converse(
      taskWith({
        actions: [{ tool: 'look', arguments: { chair: 'A1' } }],
        communicate: ['antique chairs are never painted'],
      }),
    );
    expect(transcript(state).at(-2)).toMatch(/(?:can't|not possible|not allow).*antique chairs are never painted/);
    expect(state.reward?.value).toBe(1);
  });

  it('reports its findings if nothing has to be changed', async () => {
    const state = await converse(
      taskWith({
        user: {
          goal: 'You want to know the colour of chair A1.',
          opening: 'Which colour has chair A1?',
          known: { chair: 'A1' },
        },
        actions: [{ tool: 'look', arguments: { chair: 'A1' } }],
      }),
    );
    expect(transcript(state)[2]).toContain('colour blue');
  });

  it.each<[string, unknown, RegExp]>([
    ['a field of a result', { due: '3 May', loan: { days: 21 } }, /^agent: A1 is done, due on 3 May \(21 days\)\./],
    ['nothing where the result has no such field', { days: 21 }, /^agent: (?:All d|D)one: paint/],
    ['nothing of a result that is not JSON', 'on 3 May', /^agent: (?:All d|D)one: paint/],
  ])('quotes %s', async (_, result, said) => {
    const done = ['{chair} is done, due on {result.due} ({result.loan.days} days).'];
    const { tools, ...words } = domain.lexicon;
    const lexicon = { ...words, tools: { paint: { ...(tools['paint'] as (typeof tools)[string]), done } } };
    const quoting: typeof callTool = async (tool, call, context) => {
      const outcome = await callTool(tool, call, context);
      const content = typeof result === 'string' ? result : JSON.stringify(result);
      return tool.name === 'paint' ? { ...outcome, content } : outcome;
    };
    const lines = transcript(await converse(taskWith(), '1', [], { ...domain, lexicon }, quoting));
    expect(lines[lines.findIndex((line) => line.startsWith('paint')) + 1]).toMatch(said);
  });

  it('calls with the floats of the gold action', () => {
    const action = { tool: 'look', arguments: { chair: 'A1', legs: 4 }, floats: ['/legs'] };
    const said: Message = { role: 'user', step: 1, content: 'Please look at A1.' };
    const { toolCalls } = goldAgent(viewOf(taskWith({ actions: [action] }), [said], 'agent', '1'));
    expect(toolCalls).toMatchObject([{ name: 'look', arguments: action.arguments, floats: ['/legs'] }]);
  });

  it('tells a large number of a look-up with all digits', () => {
    const [call, serial] = [{ id: 'c1', name: 'look', arguments: { chair: 'A1' } }, '12345678901234567891'];
    const messages: readonly Message[] = [
      { role: 'user', step: 1, content: 'Please look at A1.' },
      { role: 'agent', step: 2, content: null, toolCalls: [call] },
      { role: 'tool', step: 3, callId: 'c1', name: 'look', content: `{"serial":${serial}}`, isError: false },
    ];
    const task = taskWith({ actions: [{ tool: 'look', arguments: call.arguments }] });
    expect(goldAgent(viewOf(task, messages, 'agent', '1')).content).toContain(serial);
  });

  it('gives the same reply for the same view', () => {
    const lines = fc.array(
      fc.record({
        isAgent: fc.boolean(),
        content: fc.constantFrom('Yes, please.', 'No.', 'A1', 'Shall I paint A1 red?', 'What?', 'Done.'),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(lines, fc.string(), (said, seed) => {
        const messages = said.map(
          ({ isAgent, content }, step): Message =>
            isAgent ? { role: 'agent', step, content, toolCalls: [] } : { role: 'user', step, content },
        );
        const reply = () => goldAgent(viewOf(taskWith(), messages, 'agent', seed));
        expect(reply()).toEqual(reply());
        expect(reply().toolCalls.length === 1).toBe(reply().content === null);
      }),
    );
  });
});

describe('the scripted seat', () => {
  it('plays the script and then has nothing to say', () => {
    const calls = [{ tool: 'look', arguments: { chair: 'A1' } }];
    const task = taskWith({ script: ['Hello.', calls, [{ tool: 'look', arguments: '{"chair": ' }]] });
    const agent = (step: number): Message => ({ role: 'agent', step, content: 'x', toolCalls: [] });
    const replies = [[], [agent(0)], [agent(0), agent(1)], [agent(0), agent(1), agent(2)]].map((messages) =>
      scriptedAgent(viewOf(task, messages, 'agent')),
    );
    expect(replies).toEqual([
      { content: 'Hello.', toolCalls: [] },
      { content: null, toolCalls: [{ id: 'call_1', name: 'look', arguments: { chair: 'A1' } }] },
      { content: null, toolCalls: [{ id: 'call_2', name: 'look', arguments: '{"chair": ' }] },
      null,
    ]);
  });
});

it('waits after the first request for a user who then asks for something more', async () => {
  const task = taskWith({
    persona: 'plain-changes',
    user: {
      known: { chair: 'A1', colour: 'red', other_colour: 'white' },
      change: { when: 'done', say: 'And B2 in white, please.' },
    },
    actions: twoChairs.actions,
  });
  const lines = transcript(await converse(task));
  const asked = lines.indexOf('user: And B2 in white, please.');
  expect(lines.slice(0, asked).filter((line) => /white|B2|colour\?/.test(line))).toEqual([]);
  expect(lines).toContain('paint {"chair":"B2","colour":"white"}');
});
