// Profiles the CPU time of a rollout by subsystem and function: both processes of ../retail.ts under V8's profiler.
// Run: node bench/spike/profile.ts [rollouts] [rows]. The worker runs under --inspect, which costs a little.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openRetail } from '../retail.ts';

type Frame = { readonly functionName: string; readonly url: string; readonly lineNumber: number };
type Profile = {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame; readonly children?: readonly number[] }[];
  readonly samples?: readonly number[];
  readonly timeDeltas?: readonly number[];
};

/** Subsystems by the location of the innermost frame that matches. The first matching row decides. */
const subsystems: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['collection of garbage', /^\(garbage collector\)/],
  ['chain', /^chained /],
  ['recording: lines and writes', /shell\/(?:recording|rolloutRecord|disk)\.ts/],
  ['receipt and ledger', /shell\/ledger\.ts|^receiptOf|core\/task\.ts/],
  ['text of events', /^eventText /],
  ['pipe, waiting included', /^flush /],
  ['channel', /worker\/(?:workerChannel|workerProcess|workerMessage)\.ts/],
  ['marker', /worker\/workerMarker\.ts/],
  ['verification', /shell\/verification\.ts|core\/(?:verify|conclusion|reward|recovery|reportCard)\.ts|verifiers\//],
  ['rules', /core\/rules/],
  ['agenda and recogniser', /core\/(?:agenda|dialogue|wish|facts|disagreement|lexicon)/],
  ['gold', /core\/gold/],
  ['random streams', /core\/random\.ts|pure-rand/],
  ['differences', /core\/difference\.ts/],
  ['state hash', /^(?:hashOf|hashedText|objectText|stateHash|tableHash|.*Hash) |core\/hash\.ts/],
  ['drafts, rows and tries', /core\/(?:draft|database|node|table|json)\.ts/],
  ['zod', /zod/],
  ["the domain's tools", /tools\.ts/],
  ['tool calls', /worker\/codeTools\.ts|authoring\.ts/],
  ['fold', /core\/(?:rollout|scripted)\.ts/],
  ['driver and host', /shell\/driver\.ts|worker\/workerHost\.ts/],
  ['supervisor and batch', /shell\/(?:supervisor|batch|resume|start|rolloutTools|externalSeats)\.ts/],
];

const count = Number(process.argv[2] ?? 1000);
const rows = Number(process.argv[3] ?? 25);
const said = inspectedWorkers();
const retail = await openRetail(1);
await retail.play(200);
const own = new Session();
own.connect();
await own.post('Profiler.enable');
const worker = await attach(await inspectorOf(said));
await worker.send('Profiler.enable');
await Promise.all([own.post('Profiler.start'), worker.send('Profiler.start')]);
const { results, own: ownCpu, workers } = await retail.play(count);
const [{ profile: ours }, { profile: theirs }] = await Promise.all([
  own.post('Profiler.stop'),
  worker.send('Profiler.stop') as Promise<{ readonly profile: Profile }>,
]);
console.log(`CPU ms a rollout: supervisor ${ownCpu.toFixed(2)}, worker ${workers.toFixed(2)}`);
show('worker', theirs, results.length);
show('supervisor', ours as Profile, results.length);
worker.close();
await retail.close();

/** Makes workers of this process run under the inspector, each on a free port. Returns the file that lists the ports. */
function inspectedWorkers(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-profile-'));
  const [script, said] = [join(folder, 'node'), join(folder, 'said')];
  const node = `exec '${process.execPath}' --inspect=127.0.0.1:0 --allow-inspector "$@" 2>>'${said}'`;
  writeFileSync(script, `#!/bin/sh\n${node}\n`, { mode: 0o755 });
  process.execPath = script;
  return said;
}

async function inspectorOf(said: string): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const url = /Debugger listening on (ws:\/\/\S+)/.exec(readFileSync(said, 'utf8'))?.[1];
    if (url) return url;
    await pause(100);
  }
  throw new Error('the worker has no inspector');
}

async function attach(url: string) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const waiting = new Map<number, (result: unknown) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { readonly id?: number; readonly result: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  };
  const send = (method: string) =>
    new Promise<unknown>((resolve) => {
      waiting.set(waiting.size, resolve);
      socket.send(JSON.stringify({ id: waiting.size - 1, method }));
    });
  return { send, close: () => socket.close() };
}

function show(title: string, profile: Profile, rollouts: number): void {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const functions = new Map<string, number>();
  const shares = new Map<string, number>();
  let total = 0;
  for (const [at, id] of (profile.samples ?? []).entries()) {
    const time = profile.timeDeltas?.[at] ?? 0;
    const label = labelOf(nodes.get(id)?.callFrame);
    if (label.startsWith('(idle)')) continue;
    total += time;
    functions.set(label, (functions.get(label) ?? 0) + time);
    const name = subsystemOf(id);
    shares.set(name, (shares.get(name) ?? 0) + time);
  }
  const print = (sums: ReadonlyMap<string, number>, most: number) => {
    for (const [name, time] of [...sums].toSorted((a, b) => b[1] - a[1]).slice(0, most))
      console.log(
        `${((100 * time) / total).toFixed(1).padStart(6)} % ${(time / rollouts).toFixed(0).padStart(6)} us  ${name}`,
      );
  };
  console.log(`\n${title}: ${(total / rollouts).toFixed(0)} us a rollout by samples`);
  print(shares, subsystems.length + 1);
  console.log('  by function itself');
  print(functions, rows);

  function subsystemOf(leaf: number): string {
    for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
      const label = labelOf(nodes.get(id)?.callFrame);
      const found = subsystems.find(([, pattern]) => pattern.test(label));
      if (found) return found[0];
    }
    return 'runtime and the rest';
  }
}

function labelOf(frame: Frame | undefined): string {
  const { functionName = '', url = '', lineNumber = 0 } = frame ?? {};
  return `${functionName || '(anonymous)'} ${url.replace(/^.*\/(?=(?:src|node_modules|bench)\/)/, '')}:${lineNumber + 1}`;
}
