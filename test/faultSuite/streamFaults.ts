import type { ServerResponse } from 'node:http';
import type { ChatFault, Message } from './chatFaults.ts';

const everySeat = ['agent', 'user', 'judge', 'tool'] as const;
const withCalls = ({ tool_calls }: Message) => tool_calls !== undefined;
const end = '[DONE]';
const isEnd = (event: string) => event === end;
const upstreamError = JSON.stringify({ error: { message: 'upstream is away', code: 502 } });

const chunk = (more: object) => JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...more });
const delta = (given: object, finish_reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta: given, finish_reason }] });
const halves = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)];

/** Returns the events of a stream that says a message: its text, or the arguments of its calls, in two halves. */
function eventsOf({ role, content, tool_calls = [] }: Message): readonly string[] {
  const calls = tool_calls.flatMap(({ id, type, function: { name, arguments: text } }, index) => [
    delta({ tool_calls: [{ index, id, type, function: { name, arguments: '' } }] }),
    ...halves(text).map((part) => delta({ tool_calls: [{ index, function: { arguments: part } }] })),
  ]);
  return [
    delta({ role, content: content === null ? null : '' }),
    ...halves(content ?? '').flatMap((part) => (part === '' ? [] : [delta({ content: part })])),
    ...calls,
    delta({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } }),
    end,
  ];
}

type Change = (events: readonly string[]) => readonly string[];

/** Sends the events of a message as a change leaves them. */
const sends = (change: Change, finish = (response: ServerResponse) => void response.end()): ChatFault['inject'] => {
  return (message, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'retry-after-ms': '1' });
    const text = change(eventsOf(message))
      .map((event) => `data: ${event}\n\n`)
      .join('');
    response.write(text, () => finish(response));
  };
};

/** A fault in the form of a stream: what it means is clear, so the rollout is as without it. */
const form = (name: string, change: Change): ChatFault => ({
  name: `a stream ${name}`,
  seats: everySeat,
  inject: sends(change),
  outcomes: { unchanged: /./ },
});

/** A fault that ends a stream early: the request is made again. If it stays, the rollout has no result. */
const broken = (name: string, inject: ChatFault['inject'], cause: RegExp, fits?: ChatFault['fits']): ChatFault[] => {
  const common = { seats: fits ? (['agent'] as const) : everySeat, inject, ...(fits ? { fits } : {}) };
  return [
    { ...common, name: `a stream ${name}, once`, outcomes: { unchanged: /./ } },
    { ...common, name: `a stream ${name}, always`, isLasting: true, outcomes: { unscored: cause } },
  ];
};

/** Cuts a stream after the first half of its text, or of the arguments of its first call. */
const firstHalf: Change = (events) =>
  events.slice(0, events.findIndex((event) => /"(content|arguments)":"[^"]/.test(event)) + 1);
const brokeOff = /broke off/;

/** Faults of answers that are streamed. A seat that asks for a whole answer gets a stream all the same. */
export const streamFaults: readonly ChatFault[] = [
  form('in place of a whole answer', (events) => events),
  form('without [DONE]', (events) => events.filter((event) => !isEnd(event))),
  form('without a finish_reason', (events) => events.filter((event) => !/"finish_reason":"/.test(event))),
  form('without usage', (events) => events.filter((event) => !event.includes('"usage"'))),
  form('that continues after its end', (events) => [...events, delta({ content: ' One more thing.' })]),
  form('with a part that comes twice', (events) =>
    events.flatMap((event, at) => (at === events.length - 4 ? [event, event] : [event])),
  ),
  ...broken('that ends in the middle of a text', sends(firstHalf), brokeOff),
  ...broken('that ends in the middle of a call', sends(firstHalf), brokeOff, withCalls),
  ...broken(
    'whose connection is closed in the middle of a call',
    sends(firstHalf, (response) => void response.destroy()),
    brokeOff,
    withCalls,
  ),
  ...broken(
    'with an event that is cut',
    sends((events) => [...firstHalf(events), '{"id": "c", "choi']),
    brokeOff,
  ),
  ...broken(
    'with an error in the middle',
    sends((events) => [...firstHalf(events), upstreamError, end]),
    /upstream is away/,
  ),
  ...broken(
    'with an error in the middle of a call',
    sends((events) => [...firstHalf(events), upstreamError]),
    /upstream is away/,
    withCalls,
  ),
];
