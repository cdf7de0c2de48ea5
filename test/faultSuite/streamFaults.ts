import type { ServerResponse } from 'node:http';
import { sendJson } from '../support/chatResponse.ts';
import { type ChatFault, chatFaults, everySeat, hasCalls, type Message } from './chatFaults.ts';
import { streamed } from './streamed.ts';

const end = '[DONE]';
const isEnd = (event: string) => event === end;
const upstreamError = JSON.stringify({ error: { message: 'upstream is away', code: 502 } });

const chunk = (more: object) => JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...more });
const delta = (given: object, finish_reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta: given, finish_reason }] });
const halves = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)];

/** Returns the events of a streamed message: its text, or the arguments of its calls, in two halves. */
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

/** Sends the events of a message after a change. */
const sends = (change: Change, more: Sending = {}): ChatFault['inject'] => {
  const { finish = (response) => void response.end(), frame = (event) => `data: ${event}\n\n` } = more;
  return ({ message, response }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'retry-after-ms': '1' });
    response.write(change(eventsOf(message)).map(frame).join(''), () => finish(response));
  };
};
type Sending = {
  readonly finish?: (response: ServerResponse) => void;
  /** Returns an event in its wire format. */
  readonly frame?: (event: string) => string;
};

/** A fault in the form of a stream whose meaning is clear, so the rollout is as without it. */
const form = (name: string, change: Change, more: Sending & Pick<ChatFault, 'fits'> = {}): ChatFault => ({
  name: `a stream ${name}`,
  seats: more.fits ? ['agent'] : everySeat,
  ...(more.fits ? { fits: more.fits } : {}),
  inject: sends(change, more),
  outcomes: { unchanged: /./ },
});

/** A fault that ends a stream early: the request is repeated. If it stays, the rollout has no result. */
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

/** The faults of whole answers that have the same form in a stream. */
export const streamedFaults: readonly ChatFault[] = chatFaults.flatMap(({ answer, ...fault }) => {
  if (!answer) return [];
  const inject: ChatFault['inject'] = (request) => sendJson(streamed(request.response), 200, answer(request));
  return { ...fault, name: `${fault.name}, in a stream`, inject };
});

/** Faults of answers that are streamed. A seat that asks for a whole answer gets a stream all the same. */
export const streamFaults: readonly ChatFault[] = [
  form('in place of a whole answer', (events) => events),
  form('without [DONE]', (events) => events.filter((event) => !isEnd(event))),
  form('without a finish_reason', (events) => events.filter((event) => !/"finish_reason":"/.test(event))),
  form('without usage', (events) => events.filter((event) => !event.includes('"usage"'))),
  form('that continues after its end', (events) => [...events, delta({ content: ' One more thing.' })]),
  form('with a part that is sent twice', (events) =>
    events.flatMap((event, at) => (at === events.length - 4 ? [event, event] : [event])),
  ),
  form('with comments and other line endings', (events) => events, {
    frame: (event) => `: PROCESSING\r\n\r\ndata:${event}\r\n\r\n`,
  }),
  form(
    'without the index of a call',
    (events) => events.map((event) => event.replace('"tool_calls":[{"index":0,', '"tool_calls":[{')),
    { fits: hasCalls },
  ),
  ...broken(
    'with an error before its first event',
    sends(() => [upstreamError]),
    /upstream is away/,
  ),
  ...broken(
    'with only its end',
    sends(() => [end]),
    /the answer has no choices/,
  ),
  ...broken('that ends in the middle of a text', sends(firstHalf), brokeOff),
  ...broken('that ends in the middle of a call', sends(firstHalf), brokeOff, hasCalls),
  ...broken(
    'whose connection is closed in the middle of a call',
    sends(firstHalf, { finish: (response) => void response.destroy() }),
    brokeOff,
    hasCalls,
  ),
  ...broken(
    'with an event that is cut off',
    sends((events) => [...firstHalf(events), '{"id": "c", "choi']),
    brokeOff,
  ),
  ...broken(
    'with an error in the middle',
    sends((events) => [...firstHalf(events), upstreamError, end]),
    /upstream is away/,
  ),
  ...broken(
    'with an error in a separate field',
    sends((events) => [...firstHalf(events), upstreamError], {
      frame: (event) => `${event === upstreamError ? 'error' : 'data'}: ${event}\n\n`,
    }),
    /upstream is away/,
  ),
  ...broken(
    'with an event of the type error',
    sends((events) => [...firstHalf(events), 'upstream is away'], {
      frame: (event) => `event: ${event.startsWith('{') ? 'chunk' : 'error'}\ndata: ${event}\n\n`,
    }),
    /upstream is away/,
  ),
  ...broken(
    'with an error in the middle of a call',
    sends((events) => [...firstHalf(events), upstreamError]),
    /upstream is away/,
    hasCalls,
  ),
  ...streamedFaults,
];
