import { appendFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Launch } from '../../../src/cli/targets/target.ts';
import { throwUnlessUsersServed } from '../../../src/cli/targets/userEndpoints.ts';
import { approveDomain } from '../../support/approval.ts';
import { endpoint } from '../../support/endpoint.ts';
import { temporaryFolder } from '../../support/temporary.ts';

type Asked = Pick<Launch, 'kind' | 'config'>;
type Named = (model: string) => object;

const rows: readonly (readonly [name: string, of: (folder: string, user: Named) => Asked, code: string | null])[] = [
  [
    'the users of a domain',
    (domain, user) => ({ kind: 'grpo', config: { domain, user: user('a'), evaluate_user: user('b') } }),
    null,
  ],
  [
    'the users of several domains',
    (folder, user) => ({ kind: 'grpo', config: { domain: [{ folder, user: user('a') }], evaluate_user: user('b') } }),
    null,
  ],
  [
    'the user of a held-out domain',
    (folder, user) => ({ kind: 'grpo', config: { domain: [], held_out: [{ folder, evaluate_user: user('b') }] } }),
    null,
  ],
  ['the user of an evaluation', (domain, user) => ({ kind: 'evaluate', config: { domain, user: user('b') } }), null],
  [
    'a user that the domain does not name',
    (domain, user) => ({ kind: 'grpo', config: { domain, user: user('another') } }),
    'model/key',
  ],
];

test.each(rows)('%s: an endpoint that needs a header of the domain', async (_, of, code) => {
  const base_url = await endpoint((_nth, _body, headers) =>
    headers['api-key'] === 'key-of-the-desk'
      ? { status: 200, body: { object: 'list', data: [] } }
      : { status: 401, body: { error: { message: 'api-key is missing' } } },
  );
  const folder = join(temporaryFolder('users'), 'parcel-desk');
  cpSync('domains/parcel-desk', folder, { recursive: true });
  const users = `user: { train: "openai:a@${base_url}", evaluate: "openai:b@${base_url}" }\n`;
  const settings = 'models: { user: { headers: { api-key: key-of-the-desk } } }\n';
  appendFileSync(join(folder, 'domain.yaml'), `${users}${settings}`);
  approveDomain(folder);
  const asked = of(folder, (model) => ({ base_url, model }));
  const checked = throwUnlessUsersServed(asked, process.env, new AbortController().signal);
  if (code === null) await checked;
  else await expect(checked).rejects.toMatchObject({ failure: { code } });
});
