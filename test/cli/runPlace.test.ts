import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { smallDomain } from '../support/smallDomain.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsalIn } from '../support/terminal.ts';

const one = 'id: one\npersona: plain\nuser: { goal: Look., opening: Hello. }\nscript: [Done.]\nactions: []\n';

test.each([
  [
    'in the folder that the command is run in',
    (domain: string) => dirname(domain),
    (domain: string) => dirname(domain),
  ],
  ['in a domain elsewhere', () => temporaryFolder('elsewhere'), (domain: string) => domain],
])('a run without --out is %s', async (_which, cwdOf, rootOf) => {
  const domain = smallDomain({}, one);
  const [cwd, runs] = [cwdOf(domain), join(rootOf(domain), '.rehearsal', 'runs')];
  const before = existsSync(runs) ? readdirSync(runs) : [];
  const { code } = await rehearsalIn(cwd, 'run', domain, 'one', '--agent', 'scripted');
  const made = readdirSync(runs).filter((name) => !before.includes(name));
  expect({ code, made }).toEqual({ code: 0, made: [expect.stringMatching(/-one(?:-\d+)?$/)] });
});
