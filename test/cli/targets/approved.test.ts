import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { inRoot } from '../../../scripts/repository.ts';
import { approvedThere } from '../../../src/cli/targets/approved.ts';
import type { Launch } from '../../../src/cli/targets/target.ts';
import { approvalFor, approve, approvedEffects } from '../../../src/engine/shell/approvals/approvals.ts';
import { type Effects, effectsIn } from '../../../src/engine/shell/approvals/effects.ts';
import { temporaryFolder } from '../../support/temporary.ts';

afterEach(() => void vi.unstubAllEnvs());

/** Creates a domain with a server, and with folders that are not copied to another machine. */
function withServer(): string {
  const folder = temporaryFolder('approved');
  cpSync(inRoot('domains', 'parcel-desk'), folder, { recursive: true });
  writeFileSync(join(folder, 'domain.yaml'), 'name: x\nmcpServers:\n  shop: { command: no-such-server }\n');
  for (const name of ['.git', 'node_modules']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'extra.mjs'), '');
  }
  return folder;
}

/** Copies the domain as to another machine. */
function copyOf(folder: string): string {
  const copy = temporaryFolder('there');
  cpSync(folder, copy, { recursive: true, filter: (path) => !/\.git|node_modules/.test(path) });
  return copy;
}

const approvalOf = (folder: string, environment: NodeJS.ProcessEnv) =>
  approvalFor(effectsIn(folder, false) as Effects, environment);

test('what is not approved here is not approved on another machine', () => {
  vi.stubEnv('REHEARSAL_HOME', temporaryFolder('home'));
  const { config } = { config: { domain: withServer() } };
  expect(() => approvedThere({ config } as unknown as Launch, process.env)).toThrow(/is not approved/);
});

test('an approval covers the copy on another machine, also without a sandbox, and nothing else', () => {
  vi.stubEnv('REHEARSAL_HOME', temporaryFolder('home'));
  const folder = withServer();
  const environment: NodeJS.ProcessEnv = { REHEARSAL_HOME: temporaryFolder('home') };
  approve([approvalOf(folder, environment)?.hash ?? ''], environment);
  const there = {
    ...approvedThere({ config: { domain: folder } } as unknown as Launch, environment),
    REHEARSAL_HOME: temporaryFolder('home-there'),
  };
  expect(there).toHaveProperty(approvedEffects);
  expect(approvalOf(copyOf(folder), there)).toBeNull();
  const changes: readonly ((copy: string) => void)[] = [
    (copy) => writeFileSync(join(copy, 'tools.ts'), '// Other code.\n'),
    (copy) => writeFileSync(join(copy, 'more.mjs'), ''),
    (copy) => writeFileSync(join(copy, 'domain.yaml'), 'name: x\nmcpServers:\n  shop: { command: other }\n'),
    (copy) =>
      writeFileSync(
        join(copy, 'domain.yaml'),
        'name: x\nnetwork: true\nmcpServers:\n  shop: { command: no-such-server }\n',
      ),
  ];
  for (const change of changes) {
    const copy = copyOf(folder);
    change(copy);
    expect(approvalOf(copy, there)).not.toBeNull();
  }
});
