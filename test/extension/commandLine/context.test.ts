import { expect, test, vi } from 'vitest';
import { createContext } from '../../../src/extension/commandLine/context.ts';

const written = vi.hoisted((): unknown[] => []);

vi.mock('vscode', () => ({
  EventEmitter: class {},
  window: {
    createOutputChannel: () => {
      const write = (text: unknown) => void written.push(text);
      return { info: write, warn: write, error: write, show: () => undefined, dispose: () => undefined };
    },
  },
}));

test('what a server or a model says is written to the log without control characters', () => {
  const extension = { subscriptions: [], secrets: { onDidChange: () => undefined }, extensionPath: '/' } as never;
  const { log } = createContext(extension);
  for (const level of ['info', 'warn', 'error'] as const) log[level]('server\u001b[2J says\u0007 \u202eyes');
  expect(written).toEqual(['server says yes', 'server says yes', 'server says yes']);
});
