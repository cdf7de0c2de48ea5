import { beforeEach, expect, test, vi } from 'vitest';
import type { Context } from '../../../src/extension/commandLine/context.ts';
import { allowedKeysOf, askForSeats } from '../../../src/extension/commandLine/keyConsent.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const editor = vi.hoisted(() => ({ asked: [] as string[], details: [] as string[], answer: '' }));

vi.mock('vscode', () => ({
  window: {
    showWarningMessage: async (message: string, { detail }: { readonly detail: string }) => {
      editor.asked.push(message);
      editor.details.push(detail);
      return editor.answer;
    },
  },
}));

beforeEach(() => {
  vi.stubEnv('REHEARSAL_HOME', temporaryFolder('key-consent'));
  vi.stubEnv('OPENAI_API_KEY', '');
  vi.stubEnv('OPENAI_BASE_URL', '');
  Object.assign(editor, { asked: [], details: [], answer: '' });
  return () => vi.unstubAllEnvs();
});

/** An editor that stores a key and records its messages. */
function contextWith(environment: Readonly<Record<string, string>>): Context {
  const state = new Map<string, unknown>();
  const globalState = {
    get: (name: string, other: unknown) => state.get(name) ?? other,
    update: async (name: string, value: unknown) => void state.set(name, value),
  };
  const extension = { globalState } as never;
  const ofConsents = () => ({ REHEARSAL_KEY_ORIGINS: allowedKeysOf(extension).join(' ') });
  return { extension, environment: async () => ({ ...environment, ...ofConsents() }) } as unknown as Context;
}

let hosts = 0;
const elsewhere = () => `http://elsewhere-${++hosts}.example`;
const launch = (seats: object) => ({ type: 'rehearsal', name: 'x', request: 'launch', ...seats });

test.each(['agent', 'user', 'forkAgent', 'judge'])(
  'a launch configuration whose %s is at another address asks before the key is sent there',
  async (seat) => {
    const origin = elsewhere();
    const context = contextWith({ OPENAI_API_KEY: 'sk-of-this-person' });
    await askForSeats(context, launch({ [seat]: `openai:m@${origin}/v1` }));
    expect(editor.asked).toEqual([`Send OPENAI_API_KEY to ${origin}?`]);
    expect(editor.details[0]).toMatch(/^OPENAI_API_KEY belongs to https:\/\/api\.openai\.com\. /);
    expect(allowedKeysOf(context.extension)).toEqual([]);
  },
);

test('an answer is remembered, for that address alone; a refusal is not asked again', async () => {
  const context = contextWith({ OPENAI_API_KEY: 'sk-of-this-person' });
  const [allowed, declined] = [elsewhere(), elsewhere()];
  const ask = (origin: string) => askForSeats(context, launch({ agent: `openai:m@${origin}/v1` }));
  editor.answer = 'Send the Key';
  await ask(allowed);
  await ask(allowed);
  expect(editor.asked).toHaveLength(1);
  expect(allowedKeysOf(context.extension)).toEqual([`OPENAI_API_KEY=${allowed}`]);
  editor.answer = '';
  await ask(declined);
  await ask(declined);
  expect(editor.asked).toHaveLength(2);
});

test.each([
  ['the provider’s own address', { OPENAI_API_KEY: 'sk-of-this-person' }, 'openai:m@https://api.openai.com/v1'],
  ['no address', { OPENAI_API_KEY: 'sk-of-this-person' }, 'openai:m'],
  ['another address, where no key is stored', {}, 'openai:m@http://elsewhere.example/v1'],
  ['what is not an address', { OPENAI_API_KEY: 'sk-of-this-person' }, 'openai:m@file:///etc/passwd'],
])('no person is asked for %s', async (_what, environment, agent) => {
  await askForSeats(contextWith(environment as Record<string, string>), launch({ agent }));
  expect(editor.asked).toEqual([]);
});
