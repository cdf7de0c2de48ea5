import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RolloutEvent } from '../../../../src/engine/core/events/event.ts';
import { openRecording, parseRecording, readRecording } from '../../../../src/engine/shell/records/recording.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const events: readonly RolloutEvent[] = [
  { type: 'worldPrepared', writes: [] },
  { type: 'userReplied', content: 'Hello', stop: null },
  { type: 'agentReplied', content: 'Hi, what do you need?', toolCalls: [] },
  { type: 'userReplied', content: 'Nothing.', stop: 'done' },
];

function recorded(): { readonly path: string; readonly text: string } {
  const path = join(temporaryFolder('rehearsal'), 'a.traj.jsonl');
  const file = openRecording(path);
  events.forEach((event, n) => {
    file.append({ n, event, state: 'a'.repeat(64) });
  });
  file.close();
  return { path, text: readFileSync(path, 'utf8') };
}

test('a recording reads back as it was written', () => {
  const { path } = recorded();
  const { lines, problems } = readRecording(path);
  expect(problems).toEqual([]);
  expect(lines.map(({ event }) => event)).toEqual(events);
});

test('an existing text is kept unchanged, with the same chain', () => {
  const path = join(temporaryFolder('rehearsal'), 'a.traj.jsonl');
  const file = openRecording(path);
  file.append(
    ...events.map((event, n) => {
      const line = { n, event, state: 'a'.repeat(64) };
      return { ...line, text: JSON.stringify(line) };
    }),
  );
  expect(readFileSync(path, 'utf8')).toBe(recorded().text);
  expect(readRecording(path).lines.at(-1)?.chain).toBe(file.head());
});

const damages: readonly {
  readonly name: string;
  readonly damage: (text: string) => string;
  readonly line: number;
  readonly message: RegExp;
}[] = [
  {
    name: 'one changed byte',
    damage: (text) => text.replace('Hello', 'Hallo'),
    line: 2,
    message: /userReplied.*was changed/,
  },
  {
    name: 'a dropped event',
    damage: (text) => text.split('\n').toSpliced(1, 1).join('\n'),
    line: 2,
    message: /dropped, added or swapped/,
  },
  { name: 'a changed state hash', damage: (text) => text.replace('aaaa', 'aaab'), line: 1, message: /was changed/ },
  { name: 'a torn last line', damage: (text) => text.slice(0, -20), line: 4, message: /cut short/ },
  {
    name: 'an unknown event',
    damage: (text) => text.replace('"userReplied"', '"userShouted"'),
    line: 2,
    message: /is not an event/,
  },
];

test.each(damages)('$name is found at its line', ({ damage, line, message }) => {
  const { path, text } = recorded();
  const [problem] = parseRecording(path, damage(text)).problems;
  expect(problem).toMatchObject({ line, message: expect.stringMatching(message) });
});

test('what was recorded before a torn line is kept', () => {
  const { path, text } = recorded();
  expect(parseRecording(path, text.slice(0, -20)).lines).toHaveLength(3);
});

test('a full disk is one clear fault that names the file', () => {
  const file = openRecording('/dev/full');
  expect(() => file.append({ n: 0, event: events[0] as RolloutEvent, state: '' })).toThrow(
    /\/dev\/full: the disk is full; what was recorded before is kept/,
  );
});
