// Injects the faults of this suite into rollouts of other frameworks. `npm run test:peers` calls it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { inRoot } from '../../../scripts/repository.ts';
import { Failure, runMain } from '../../../scripts/terminal.ts';
import { type Cases, caseIn } from '../cases.ts';
import { serveCases } from '../endpoint.ts';
import { usualOpenings, visitServer } from '../visitServer.ts';
import { type Peer, type PeerResult, type Played, peers } from './peers.ts';
import { casesOf, dueReward, injections, isWrong, namesOf, peerCalls, planOf } from './plans.ts';
import { writeTables } from './table.ts';

const usage = `Usage: npm run test:peers -- [PEER ...] [--from N] [--to N] [--table]

Injects the faults of test/faultSuite into rollouts of other frameworks and writes the tables of
docs/injected-faults.md. Takes half an hour to an hour. The peers: ${Object.keys(peers).join(', ')}.

  --from N, --to N  only the faults from number N on, or before number N (0 to ${injections.length})
  --table           play nothing: write the tables from the results in dist/peers`;

/** Faults of one run of a peer. */
const perBatch = 12;
/** The limits for a peer if its settings have them, in seconds, and of model turns. */
const limits = { limit: 15, toolLimit: 3, rolloutLimit: 90, turns: 12, concurrency: 5 };

async function main(args: string[]): Promise<undefined> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      from: { type: 'string', default: '0' },
      to: { type: 'string', default: String(injections.length) },
      table: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const chosen = positionals.length > 0 ? positionals : Object.keys(peers);
  if (values.table !== true) for (const name of chosen) await comparePeer(name, Number(values.from), Number(values.to));
  writeTables();
}

async function comparePeer(name: string, first: number, end: number): Promise<void> {
  const peer = peers[name];
  if (!peer) throw new Failure(`${name} is not a peer; the peers are ${Object.keys(peers).join(', ')}`);
  const program = await peer.setUp();
  for (let from = first; from < end; from += perBatch) {
    const faults = Array.from({ length: Math.min(perBatch, end - from) }, (_, at) => from + at);
    const chosen = faults.filter((at) => isInjectable(peer, at));
    if (chosen.length > 0) keep(name, await playBatch(peer, program, casesOf(chosen)));
  }
}

function isInjectable(peer: Peer, at: number): boolean {
  const plan = injections[at];
  if (!plan || peer.leftOut?.includes(plan.fault.name)) return false;
  return peer.takesChatFaults || plan.type === 'tool';
}

/** Plays cases in one run of a peer. */
async function playBatch(peer: Peer, program: string, played: readonly number[]): Promise<readonly Played[]> {
  const affected = new Set<number>();
  const cases: Cases = { planOf, isWrong, onInjected: (at) => void affected.add(at) };
  const [endpoint, tools] = [
    await serveCases(cases, null, peer.isOwn ? undefined : peerCalls),
    await visitServer(cases, usualOpenings, !peer.isOwn),
  ];
  try {
    const plan = inRoot('dist', 'peers', `plan-${process.pid}.json`);
    mkdirSync(inRoot('dist', 'peers'), { recursive: true });
    writeFileSync(plan, JSON.stringify({ models: endpoint.base, tools: tools.url, cases: namesOf(played), ...limits }));
    const results = await resultsOf(peer, program, plan);
    return played.map((at) => ({
      at,
      isAffected: affected.has(at),
      due: dueReward(at),
      result: results.findLast((each) => caseIn(each.case) === at) ?? null,
    }));
  } finally {
    endpoint.close();
    tools.close();
  }
}

async function resultsOf(peer: Peer, program: string, plan: string): Promise<readonly PeerResult[]> {
  const script = inRoot('test', 'faultSuite', 'peers', peer.script);
  const child = spawn(program, [script, plan], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const results: PeerResult[] = [];
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('{"case"')) results.push(JSON.parse(line) as PeerResult);
  const [code] = await closed;
  if (code !== 0) console.log(`${peer.script} exited with code ${code}`);
  return results;
}

/** Adds results to those of earlier runs. */
function keep(name: string, played: readonly Played[]): void {
  const file = join(inRoot('dist', 'peers'), `${name}.json`);
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly Played[]) : [];
  const others = earlier.filter(({ at }) => !played.some((each) => each.at === at));
  writeFileSync(file, `${JSON.stringify([...others, ...played], null, 1)}\n`);
  for (const each of played) console.log(JSON.stringify(each).slice(0, 300));
}

await runMain(main);
