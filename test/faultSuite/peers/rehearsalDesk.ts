// The desk of the fault suite on this engine, by its command line: rehearsalDesk.ts PLAN. Prints a JSON line for each
// rollout.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensureBuilt } from '../../../scripts/build.ts';
import { inRoot } from '../../../scripts/repository.ts';
import { approveDomain } from '../../support/approval.ts';
import { faultDesk } from '../faultDesk.ts';
import type { PeerResult } from './peers.ts';

type Plan = {
  readonly models: string;
  readonly tools: string;
  readonly cases: readonly string[];
  readonly limit: number;
  readonly concurrency: number;
};
type Result = {
  readonly task: string;
  readonly reward: number | null;
  readonly reason: string;
  readonly failure?: { readonly message: string } | null;
};

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Plan;
const folder = mkdtempSync(join(tmpdir(), 'rehearsal-peer-'));
try {
  await ensureBuilt();
  const domain = join(folder, 'domain');
  const files = faultDesk(plan.models, plan.tools, plan.cases, plan.limit * 1000);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(domain, name)), { recursive: true });
    writeFileSync(join(domain, name), text);
  }
  approveDomain(domain);
  const seats = ['agent', 'user', 'judge'].flatMap((seat) => [`--${seat}`, `openai:m@${plan.models}/${seat}/v1`]);
  const limits = ['--timeout', String(plan.limit), '--concurrency', String(plan.concurrency)];
  const args = ['eval', domain, ...seats, ...limits, '--out', join(folder, 'run'), '--json'];
  const child = spawn(process.execPath, [inRoot('dist', 'rehearsal.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const text = Buffer.concat(await Array.fromAsync(child.stdout)).toString();
  await closed;
  const { results } = JSON.parse(text.trim().split('\n').at(-1) ?? '') as { readonly results: readonly Result[] };
  for (const { task, reward, reason, failure } of results) {
    const error = reward === null ? `${reason} ${failure?.message ?? ''}` : null;
    const result: PeerResult = { case: task, reward, error, stop: reason };
    process.stdout.write(`${JSON.stringify(result)}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
