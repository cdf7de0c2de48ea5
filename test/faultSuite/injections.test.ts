import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { chatCompletion, sendJson } from '../support/chatResponse.ts';
import { resultBody, textResult } from '../support/rawMcpListener.ts';
import { chatFaults, type Message } from './chatFaults.ts';
import { streamFaults } from './streamFaults.ts';
import { toolFaults } from './toolFaults.ts';

/** Returns a response that logs all calls of it, and the log. */
function notedResponse() {
  const notes: unknown[] = [];
  const noted =
    (name: string) =>
    (...given: readonly unknown[]) => {
      notes.push([name, ...given.map((each) => (typeof each === 'function' ? each() : each))]);
      return response;
    };
  const names = ['writeHead', 'write', 'end', 'destroy'];
  const response = Object.fromEntries(names.map((name) => [name, noted(name)])) as unknown as ServerResponse;
  return { response, notes };
}

const messages: readonly Message[] = [
  { role: 'assistant', content: '{"reason": "It names the case.", "holds": true}' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"case":"case-000001"}' } }],
  },
];

const chat = [...chatFaults, ...streamFaults];
const plain: (typeof chat)[number]['inject'] = ({ message, response }) =>
  sendJson(response, 200, chatCompletion(message));
const body = { messages: [], temperature: 0, response_format: {} };

/** Returns the answers of a fault to each message that it fits, the first time and again. */
function sentBy({ inject, fits }: Pick<(typeof chat)[number], 'inject' | 'fits'>): string {
  const sent = messages
    .filter((message) => fits?.(message) ?? true)
    .map((message) => {
      const before = messages.find((each) => each !== message);
      return [0, 1].map((times) => {
        const { response, notes } = notedResponse();
        inject({ response, body, message, before, times, name: 'case-000001' });
        return notes;
      });
    });
  return JSON.stringify(sent);
}

test('every fault of an endpoint changes what is sent, and in its own way', () => {
  const idle = chat.filter((fault) => sentBy(fault) === sentBy({ ...fault, inject: plain }));
  expect(idle.map(({ name }) => name)).toEqual([]);
  const groups = [...Map.groupBy(chat, sentBy).values()];
  const kinds = groups.map((faults) => [
    ...new Set(faults.map(({ name }) => name.replace(/, (?:once|always)(?=$|,)|, for another seat/, ''))),
  ]);
  expect(kinds.filter(({ length }) => length > 1)).toEqual([]);
});

test('every fault of a server changes what is sent or done', () => {
  const notedBy = (inject: (typeof toolFaults)[number]['inject']) => {
    const { response, notes } = notedResponse();
    const perform = () => {
      notes.push('performed');
      return textResult('noted');
    };
    inject({ id: 7, response, perform, times: 0, forget: () => void notes.push('forgotten') });
    return JSON.stringify(notes);
  };
  const whole = notedBy(({ id, response, perform }) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(resultBody(id, perform())),
  );
  expect(toolFaults.filter(({ inject }) => notedBy(inject) === whole).map(({ name }) => name)).toEqual([]);
});
