import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsalIn } from '../support/terminal.ts';

/** An option that has no effect on a command is an error: otherwise it would be ignored silently. */
test.each<[string, string]>([
  ['new desk --template empty --writes pay', '--writes does not go with --template; it takes'],
  ['new desk --template empty --seed x', '--seed does not go with --template'],
  ['new desk --mcp x --header A=B', '--header does not go with --mcp'],
  ['new desk --mcp-url http://127.0.0.1:1/mcp --env A=B', '--env does not go with --mcp-url'],
  ['new desk --mcp x --simulator openai:m', '--simulator does not go with --mcp'],
  ['new desk --chats log.jsonl --writes pay', '--writes does not go with --chats'],
  ['new desk extra --template empty', 'unexpected argument "extra"'],
  ['draft list desk --all', '--all does not go with draft list; it takes no options'],
  ['draft accept desk --count 2', '--count does not go with draft accept; it takes --all'],
  ['draft variants desk a --words x', '--words does not go with draft variants'],
  ['draft persona desk --count 2', '--count does not go with draft persona'],
  ['draft task x.traj.jsonl --seed 2', '--seed does not go with draft task'],
  ['draft from-chats run --words x', '--words does not go with draft from-chats'],
  ['import chats log.jsonl --domain desk --split train', '--split does not go with import chats; it takes'],
  ['import chats log.jsonl --domain desk --from copy', '--from does not go with import chats'],
  ['import chats log.jsonl --domain desk --python python3', '--python needs --recogniser'],
  ['new desk --chats log.jsonl --python python3', '--python needs --recogniser'],
  [
    'import chats log.jsonl --domain desk --recogniser presidio --keep-personal-data',
    '--keep-personal-data masks nothing: choose one',
  ],
  ['import spans log.json --domain desk --domains retail', '--domains does not go with import spans'],
  ['import tau2 --from copy --out to --domain desk', '--domain does not go with import tau2; it takes'],
  ['import tau1 --from copy --out to --keep-personal-data', '--keep-personal-data does not go with import tau1'],
  ['import bfcl log.jsonl --from copy --out to', 'unexpected argument "log.jsonl"'],
])('an option that would do nothing is refused: %s', async (line, message) => {
  const cwd = temporaryFolder('stray');
  const { code, out, err } = await rehearsalIn(cwd, ...line.split(' '));
  expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)]);
  expect(readdirSync(cwd)).toEqual([]);
});
