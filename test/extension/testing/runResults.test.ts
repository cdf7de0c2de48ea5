import { expect, test, vi } from 'vitest';
import { messagesOf } from '../../../src/extension/testing/messages.ts';
import { forTerminal } from '../../../src/extension/testing/runResults.ts';

vi.mock('vscode', () => ({
  TestMessage: class {
    readonly message: string;
    constructor(message: string) {
      this.message = message;
    }
  },
  Uri: { file: (path: string) => ({ path }) },
}));

const hostile = 'paid\u001b[2J\u001b]52;c;ZXZpbA==\u0007\r\u001b[Kfree\u202e';

test.each([
  [`agent ${hostile}\nnext`, 'agent paidfree\r\nnext'],
  [`\u001b[32magent     \u001b[0m${hostile}\r\n`, '\u001b[32magent     \u001b[0mpaidfree\r\n'],
])('what a model says does not steer the terminal of the test results: %j', (text, shown) => {
  expect(forTerminal(text)).toBe(shown);
});

test('the message of a test has no control characters', () => {
  const outcome = { task: 'one', message: hostile, pointers: [] } as never;
  const places = { tasks: new Map(), policyRules: new Map() } as never;
  expect(messagesOf(outcome, '/run/one.0.traj.jsonl', places).map(({ message }) => message)).toEqual(['paidfree']);
});
