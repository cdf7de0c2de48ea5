import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsalIn } from '../support/terminal.ts';

/** An option that has no effect on a command is an error: otherwise it would be ignored silently. */
test.each<[string, string]>([
  ['new desk --template empty --writes pay', '--writes cannot be used with --template; it takes'],
  ['new desk --template empty --seed x', '--seed cannot be used with --template'],
  ['new desk --mcp x --header A=B', '--header cannot be used with --mcp'],
  ['new desk --mcp-url http://127.0.0.1:1/mcp --env A=B', '--env cannot be used with --mcp-url'],
  ['new desk --mcp x --simulator openai:m', '--simulator cannot be used with --mcp'],
  ['new desk --chats log.jsonl --writes pay', '--writes cannot be used with --chats'],
  ['new desk extra --template empty', 'unexpected argument "extra"'],
  ['draft list desk --all', '--all cannot be used with draft list; it takes no options'],
  ['draft accept desk --count 2', '--count cannot be used with draft accept; it takes --all'],
  ['draft variants desk a --words x', '--words cannot be used with draft variants'],
  ['draft persona desk --count 2', '--count cannot be used with draft persona'],
  ['draft task x.traj.jsonl --seed 2', '--seed cannot be used with draft task'],
  ['draft from-chats run --words x', '--words cannot be used with draft from-chats'],
  ['import chats log.jsonl --domain desk --split train', '--split cannot be used with import chats; it takes'],
  ['import chats log.jsonl --domain desk --from copy', '--from cannot be used with import chats'],
  ['import chats log.jsonl --domain desk --python python3', '--python needs --recogniser'],
  ['new desk --chats log.jsonl --python python3', '--python needs --recogniser'],
  [
    'import chats log.jsonl --domain desk --recogniser presidio --keep-personal-data',
    '--keep-personal-data masks nothing: choose one',
  ],
  ['import spans log.json --domain desk --domains retail', '--domains cannot be used with import spans'],
  ['import tau2 --from copy --out to --domain desk', '--domain cannot be used with import tau2; it takes'],
  ['import tau1 --from copy --out to --keep-personal-data', '--keep-personal-data cannot be used with import tau1'],
  ['import bfcl log.jsonl --from copy --out to', 'unexpected argument "log.jsonl"'],
])('an option that would do nothing is refused: %s', async (line, message) => {
  const cwd = temporaryFolder('stray');
  const { code, out, err } = await rehearsalIn(cwd, ...line.split(' '));
  expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)]);
  expect(readdirSync(cwd)).toEqual([]);
});
