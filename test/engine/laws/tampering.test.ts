import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { Debuggee } from '../../../src/cli/dap/rollout/debuggee.ts';
import type { Task } from '../../../src/engine/core/domain/task.ts';
import { loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { openLedger, signingKey } from '../../../src/engine/shell/records/ledger.ts';
import { runIdIn } from '../../../src/engine/shell/records/runFile.ts';
import { type RunProblem, verifyRun, verifySingle } from '../../../src/engine/shell/records/verifyRun.ts';
import { receiptOf, runBatch } from '../../../src/engine/shell/runs/batch.ts';
import { openSupervisor } from '../../../src/engine/shell/supervisor.ts';
import { markdownTable, withGenerated } from '../../support/markdownTable.ts';
import { fileOf, linesOf, rechained, sha } from '../../support/recordLines.ts';
import { runs } from '../../support/runs.ts';
import { inFullSuite, sampled } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { tamperings } from './tamperings.ts';

// Law: `verify` finds and names everything that is changed, dropped, swapped or added in the folder of a run.

const root = temporaryFolder('rehearsal-tampering');
const [whole, other, damaged] = ['whole', 'other', 'damaged'].map((name) => join(root, name)) as [
  string,
  string,
  string,
];
const key = signingKey(join(root, 'key.pem'));
/** Plays a run of two tasks with two trials, and adds a fork as a debug session does. */
async function run(folder: string, seed: string): Promise<void> {
  const domain = loadDomain(join(import.meta.dirname, '../../../domains/order-desk'));
  const supervisor = await openSupervisor(domain);
  const seats = { agent: { type: 'scripted' }, user: { type: 'agenda' }, forkAgent: { type: 'gold' } } as const;
  const nobody = { readKey: () => undefined, askPerson: () => Promise.reject(new Error('no person is asked')) };
  try {
    const ids = ['lamp-variant', supervisor.domain.tasks[0]?.id];
    const tasks = supervisor.domain.tasks.filter(({ id }) => ids.includes(id));
    await runBatch(supervisor, {
      ...{ folder, tasks, trials: 2, seed, basis: 'evaluate', concurrency: 4, key, ...seats, ...nobody },
      agent: { type: 'gold' },
    });
  } finally {
    await supervisor.close();
  }
  const debuggee = new Debuggee({ domain, ...seats, ...nobody, log: (line) => expect.unreachable(line) });
  const task = domain.tasks.find(({ id }) => id === 'lamp-variant') as Task;
  debuggee.onClosed = (recording, closed) => {
    const options = { seed, basis: 'evaluate' } as const;
    const name = basename(recording, '.traj.jsonl');
    const receipt = receiptOf(domain.domain.policy.hash, options, name, task, 0, closed);
    openLedger(join(folder, 'ledger.jsonl'), key, runIdIn(folder)).receive(receipt);
  };
  try {
    debuggee.attach(join(folder, 'lamp-variant.0.traj.jsonl'));
    const step = debuggee.steps.findLast(({ event }) => event.type === 'agentReplied')?.n ?? 0;
    await debuggee.fork({ type: 'message', step, content: 'One moment please.' });
    while (await debuggee.forward());
  } finally {
    await debuggee.close();
  }
}

let files: readonly string[] = [];
beforeAll(async () => {
  await run(whole, 'a');
  await run(other, 'b');
  cpSync(whole, damaged, { recursive: true });
  files = readdirSync(whole);
});

test('a whole run has no problem, and every kind of file is in it', () => {
  expect(verifyRun(whole, key.publicKey)).toEqual({
    checked: 5,
    problems: [],
    run: runIdIn(whole),
    planned: 4,
    missing: [],
    left: [],
    finished: true,
  });
  const kinds = [
    'run.json',
    'ledger.jsonl',
    '.0.traj.jsonl',
    '.1.sidecar.jsonl',
    '.fork-1.traj.jsonl',
    '.fork-1.sidecar.jsonl',
  ];
  expect(kinds.filter((kind) => !files.some((name) => name.endsWith(kind)))).toEqual([]);
});

/** Changes the bytes of a file, given random numbers below 1. */
type Damage = (bytes: Buffer, random: readonly number[], name: string) => Buffer;

const below = (random: number | undefined, length: number) => Math.floor((random ?? 0) * length);
const onLines =
  (change: (lines: readonly string[], random: readonly number[]) => readonly string[]): Damage =>
  (bytes, random) =>
    fileOf(change(linesOf(bytes), random));

/** Changes a value of a line: in a recording the state or a text, in a sidecar the time, in a ledger reward or hash. */
function retold(line: string, name: string): string {
  if (name === 'run.json') return `${line} `;
  const value = JSON.parse(line) as Record<string, unknown> & { receipt?: { reward: number }; run?: object };
  if (value.run) return JSON.stringify({ ...value, run: { ...value.run, hash: sha('another') } });
  if (name === 'ledger.jsonl')
    return JSON.stringify({ ...value, receipt: { ...value.receipt, reward: value.receipt?.reward === 1 ? 0 : 1 } });
  if (name.endsWith('.sidecar.jsonl')) return JSON.stringify({ ...value, at: '2001-01-01T00:00:00.000Z' });
  return JSON.stringify({ ...value, state: sha(String(value['state'])) });
}

const damages: Readonly<Record<string, Damage>> = {
  'a flipped bit': (bytes, [at, bit]) => {
    const changed = Buffer.from(bytes);
    const place = below(at, bytes.length);
    changed[place] = (changed[place] ?? 0) ^ (1 << below(bit, 8));
    return changed;
  },
  'another byte': (bytes, [at, byte]) => {
    const changed = Buffer.from(bytes);
    const place = below(at, bytes.length);
    changed[place] = ((changed[place] ?? 0) + 1 + below(byte, 255)) % 256;
    return changed;
  },
  'an inserted byte': (bytes, [at, byte]) => {
    const place = below(at, bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, place), Buffer.from([below(byte, 256)]), bytes.subarray(place)]);
  },
  'a dropped byte': (bytes, [at]) => {
    const place = below(at, bytes.length);
    return Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1)]);
  },
  'a tail cut off anywhere': (bytes, [at]) => bytes.subarray(0, below(at, bytes.length)),
  'a dropped line': onLines((lines, [at]) => lines.toSpliced(below(at, lines.length), 1)),
  'a tail of whole lines cut off': onLines((lines, [at]) => lines.slice(0, below(at, lines.length))),
  'two swapped lines': onLines((lines, [one, two]) => {
    const first = below(one, lines.length - 1);
    const second = first + 1 + below(two, lines.length - first - 1);
    return lines.with(first, lines[second] ?? '').with(second, lines[first] ?? '');
  }),
  'a duplicated line': onLines((lines, [from, to]) =>
    lines.toSpliced(below(to, lines.length + 1), 0, lines[below(from, lines.length)] ?? ''),
  ),
  'an empty line': onLines((lines, [at]) => lines.toSpliced(below(at, lines.length + 1), 0, '')),
  'another spelling of the same data': onLines((lines, [at]) => {
    const place = below(at, lines.length);
    return lines.with(place, (lines[place] ?? '').replace('{', '{ '));
  }),
  'a changed line': (bytes, [at], name) => {
    const lines = linesOf(bytes);
    const place = below(at, lines.length);
    return fileOf(lines.with(place, retold(lines[place] ?? '', name)));
  },
};

/** Returns the first line, from 1, in which two files differ, or the last line of a file that was cut off. */
function firstDifference(before: Buffer, after: Buffer): number {
  const [old, now] = [before, after].map((bytes) => bytes.toString('latin1').split('\n')) as [string[], string[]];
  const at = old.findIndex((line, index) => line !== now[index]);
  if (at < 0) return old.length;
  return Math.max(1, Math.min(at + 1, now.at(-1) === '' ? now.length - 1 : now.length));
}

/** Returns the problems of the run with one file changed, or removed with null. Restores the file afterwards. */
function problemsWith(name: string, bytes: Buffer | null): readonly RunProblem[] {
  const path = join(damaged, name);
  try {
    if (bytes === null) rmSync(path);
    else writeFileSync(path, bytes);
    return verifyRun(damaged, key.publicKey).problems;
  } finally {
    if (files.includes(name)) copyFileSync(join(whole, name), path);
    else rmSync(path, { force: true });
  }
}

const shown = (problems: readonly RunProblem[]) =>
  problems.map(({ file, line, message }) => `${basename(file)}:${line}: ${message}`).join('\n');
const someFile = fc.nat().map((at) => files[at % files.length] ?? '');
const chances = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
  minLength: 3,
  maxLength: 3,
});

test.each(sampled(Object.entries(damages), 4))('%s is found, at its line', (_, damage) => {
  fc.assert(
    fc.property(someFile, chances, (name, random) => {
      const before = readFileSync(join(whole, name));
      const after = damage(before, random, name);
      fc.pre(!after.equals(before));
      const problems = problemsWith(name, after);
      // `run.json` is one value, so problems in it are all at line 1.
      const line = name === 'run.json' ? 1 : firstDifference(before, after);
      // A receipt that is cut off at the end is reported as a problem of its recording.
      const isCut = name === 'ledger.jsonl' && before.indexOf(after) === 0 && after.at(-1) !== 123;
      const dropped = isCut ? linesOf(before).slice(linesOf(after).length) : [];
      const places = [
        [name, line],
        ...dropped.map((each) => {
          const { receipt } = JSON.parse(each) as { receipt?: { recording: string } };
          return [receipt?.recording ?? 'run.json', null];
        }),
      ];
      const found = problems.some((each) =>
        places.some(([file, at]) => basename(each.file) === file && (at === null || each.line === at)),
      );
      expect(found, `${name}:${line} is not named by:\n${shown(problems)}`).toBe(true);
    }),
    { numRuns: runs(25) },
  );
});

test('a tampering with a recomputed chain is found by the receipt, and by the parent of a fork', () => {
  const lineDamages = ['a dropped line', 'a tail of whole lines cut off', 'two swapped lines', 'a changed line'];
  const one = fc.constantFrom(...lineDamages, 'a duplicated line');
  fc.assert(
    fc.property(someFile, one, chances, (name, kind, random) => {
      fc.pre(!['ledger.jsonl', 'run.json'].includes(name) && !name.includes('.fork-'));
      const before = readFileSync(join(whole, name));
      const touched = linesOf(damages[kind]?.(before, random, name) ?? before).map((line, n) =>
        JSON.stringify({ ...(JSON.parse(line) as object), n }),
      );
      const after = fileOf(rechained(touched));
      fc.pre(!after.equals(before));
      const problems = problemsWith(name, after);
      const message = /its receipt \(ledger\.jsonl:\d+\)|holds no event/;
      const found = problems.some(({ file, ...each }) => basename(file) === name && message.test(each.message));
      expect(found, `${name} is not named by:\n${shown(problems)}`).toBe(true);
    }),
    { numRuns: runs(50) },
  );
});

inFullSuite('a fork cannot change what it shares with its parent, even with a recomputed chain', () => {
  const fork = files.find((name) => name.endsWith('.fork-1.traj.jsonl')) ?? '';
  const before = readFileSync(join(whole, fork));
  const lines = linesOf(before);
  const { event } = JSON.parse(lines[0] ?? '') as { event: { parent: { event: number } } };
  expect(event.parent.event).toBeGreaterThan(5);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: event.parent.event }), (at) => {
      const after = fileOf(rechained(lines.with(at, retold(lines[at] ?? '', fork))));
      expect(shown(problemsWith(fork, after))).toContain(
        `${fork}:${at + 1}: event ${at} is not the one of lamp-variant.0.traj.jsonl, with which it is shared`,
      );
    }),
    { numRuns: runs(10) },
  );
});

test('a single recording is checked against its receipt in the ledger next to it', () => {
  const recordings = files.filter((name) => name.endsWith('.traj.jsonl'));
  for (const name of recordings)
    expect(verifySingle(join(whole, name), () => key.publicKey)).toEqual({ checked: 1, problems: [], hasLedger: true });
  const folder = mkdtempSync(join(root, 'single-'));
  cpSync(whole, folder, { recursive: true });
  const path = join(folder, 'lamp-variant.0.traj.jsonl');
  const forged = linesOf(readFileSync(path)).map((line) => line.replace(/"reward":[01]/, '"reward":0.5'));
  writeFileSync(path, fileOf(rechained(forged)));
  const verified = () => verifySingle(path, () => key.publicKey);
  expect(shown(verified().problems)).toMatch(/rewarded says reward 0\.5, its receipt \(ledger\.jsonl:\d\) says [01]/);
  writeFileSync(path, readFileSync(join(whole, basename(path))));
  expect(verified().problems).toEqual([]);
  const ledger = join(folder, 'ledger.jsonl');
  writeFileSync(ledger, readFileSync(ledger, 'utf8').replaceAll(/"reward":[01]/g, '"reward":0.5'));
  expect(shown(verified().problems)).toMatch(/was changed, or signed with another key/);
  writeFileSync(ledger, '');
  expect(shown(verified().problems)).toMatch(/has no receipt although it is finished/);
  rmSync(ledger);
  symlinkSync(join(whole, 'ledger.jsonl'), ledger);
  expect(shown(verified().problems)).toBe('ledger.jsonl:1: is a symbolic link. Put a copy of its target in its place');
  rmSync(ledger);
  expect(verified()).toEqual({ checked: 1, problems: [], hasLedger: false });
});

test('every missing file is named', () => {
  for (const name of files) {
    const problems = shown(problemsWith(name, null));
    expect(problems.includes(name), `${name} is not in:\n${problems}`).toBe(true);
  }
});

inFullSuite('a file of another run that replaces a file or is next to it is named', () => {
  for (const name of files) {
    const foreign = readFileSync(join(other, name));
    expect(foreign.equals(readFileSync(join(whole, name)))).toBe(false);
    const problems = shown(problemsWith(name, foreign));
    const isWhole = name.endsWith('.traj.jsonl') || name === 'run.json';
    expect(problems, name).toContain(isWhole ? `${name}:1: ` : 'jsonl:');
    if (['ledger.jsonl', 'run.json'].includes(name)) continue;
    const stranger = name.replace('.', '-x.');
    expect(shown(problemsWith(stranger, foreign)), stranger).toContain(`${stranger}:`);
  }
});

inFullSuite('the recording of another rollout in the place of one says which it is', () => {
  const [one = '', two = ''] = files.filter((name) => /\.[01]\.traj\.jsonl$/.test(name));
  const problems = shown(problemsWith(two, readFileSync(join(whole, one))));
  expect(problems).toMatch(
    new RegExp(`${two}:1: rolloutStarted says trial 0, its receipt \\(ledger.jsonl:\\d\\) says 1`),
  );
});

inFullSuite('receipts of another rollout, run or key are named with their line', () => {
  const path = join(whole, 'ledger.jsonl');
  const own = linesOf(readFileSync(path));
  const foreign = linesOf(readFileSync(join(other, 'ledger.jsonl')));
  own.forEach((line, at) => {
    const cases = [
      own.with(at, foreign[at] ?? ''),
      own.with(at, own[(at + 1) % own.length] ?? ''),
      own.with(at, JSON.stringify({ ...(JSON.parse(line) as object), before: 'x' })),
      own.toSpliced(at, 0, foreign[at] ?? ''),
    ];
    for (const lines of cases) {
      const problems = shown(problemsWith('ledger.jsonl', fileOf(lines)));
      expect(problems.split('\n').some((each) => /^[\w.-]+\.jsonl:\d+: /.test(each))).toBe(true);
      if (at > 0) expect(problems).toContain(`ledger.jsonl:${at + 1}: `);
    }
  });
  const stranger = signingKey(join(root, 'stranger.pem'));
  const { problems } = verifyRun(whole, stranger.publicKey);
  expect(problems.map(({ line }) => line)).toEqual(own.map((_, index) => index + 1));
});

/** Changes a copy of the run and returns the findings of `verify`. */
function verifiedAfter(change: (folder: string) => void, expected?: string) {
  const folder = mkdtempSync(join(root, 'changed-'));
  cpSync(whole, folder, { recursive: true });
  change(folder);
  const { problems, ...found } = verifyRun(folder, key.publicKey, expected);
  return { ...found, problems: shown(problems) };
}

const trial = 'lamp-variant.1';
const remove = (folder: string, rollout: string) => {
  for (const ending of ['traj', 'sidecar']) rmSync(join(folder, `${rollout}.${ending}.jsonl`));
};
const cut = (folder: string, count: number) => {
  const path = join(folder, 'ledger.jsonl');
  writeFileSync(path, fileOf(linesOf(readFileSync(path)).slice(0, count)));
};
const receiptLines = () => linesOf(readFileSync(join(whole, 'ledger.jsonl')));

inFullSuite('a ledger that was cut to its first line, without its recordings, is incomplete', () => {
  const { checked, planned, missing, finished, problems } = verifiedAfter((folder) => {
    cut(folder, 1);
    for (const name of files) if (name.endsWith('.jsonl') && name !== 'ledger.jsonl') rmSync(join(folder, name));
  });
  expect({ checked, planned, finished, problems }).toEqual({ checked: 0, planned: 4, finished: false, problems: '' });
  expect(missing).toHaveLength(4);
});

inFullSuite('the last receipts dropped with their files are missing', () => {
  for (let count = 1; count < receiptLines().length; count += 1) {
    const kept = receiptLines().slice(0, count);
    const dropped = receiptLines()
      .slice(count)
      .flatMap((line) => (JSON.parse(line) as { receipt?: { rollout: string } }).receipt?.rollout ?? []);
    const { missing, finished, problems } = verifiedAfter((folder) => {
      cut(folder, count);
      for (const rollout of dropped) remove(folder, rollout);
    });
    expect(problems).toBe('');
    expect([...missing].sort()).toEqual(dropped.filter((name) => !name.includes('.fork-')).sort());
    // run.json does not list forks, so a missing fork cannot be detected.
    expect(finished).toBe(kept.some((line) => line.includes('"finished":true')));
  }
});

test('the whole folder of another run of the same key is found if the id is known', () => {
  const swap = (folder: string) => {
    rmSync(folder, { recursive: true });
    cpSync(other, folder, { recursive: true });
  };
  expect(verifiedAfter(swap)).toMatchObject({ problems: '', run: runIdIn(other) });
  expect(runIdIn(other)).not.toBe(runIdIn(whole));
  expect(verifiedAfter(swap, runIdIn(whole)).problems).toBe(
    `run.json:1: is of the run ${runIdIn(other)}, not of ${runIdIn(whole)}`,
  );
});

inFullSuite('an unfinished recording of another run is foreign', () => {
  const name = `${trial}.traj.jsonl`;
  const sidecar = `${trial}.sidecar.jsonl`;
  const { problems } = verifiedAfter((folder) => {
    cut(folder, 1);
    for (const each of files) if (each.endsWith('.jsonl') && each !== 'ledger.jsonl') rmSync(join(folder, each));
    for (const each of [name, sidecar]) copyFileSync(join(other, each), join(folder, each));
  });
  expect(problems).toContain(
    `${name}:1: belongs to another run: its sidecar names ${runIdIn(other)}, run.json says ${runIdIn(whole)}`,
  );
});

test('links to recordings, their sidecars, run.json and the ledger are named, and nothing is read through them', () => {
  for (const name of files) {
    const symbolic = verifiedAfter((folder) => {
      renameSync(join(folder, name), join(root, `elsewhere-${name}`));
      symlinkSync(join(root, `elsewhere-${name}`), join(folder, name));
    });
    expect(symbolic.problems).toContain(`${name}:1: is a symbolic link`);
    const hard = verifiedAfter((folder) => linkSync(join(folder, name), join(folder, '..', `hard-${name}`)));
    expect(hard.problems).toBe(`${name}:1: is one of 2 hard links to the same file. Put a copy in its place`);
    rmSync(join(root, `hard-${name}`));
  }
});

test.skipIf(process.platform === 'win32')('a pipe in place of a file is named, and reading does not block', () => {
  for (const name of files) {
    const { problems } = verifiedAfter((folder) => {
      rmSync(join(folder, name));
      execFileSync('mkfifo', [join(folder, name)]);
    });
    expect(problems).toContain(`${name}:1: is not a regular file`);
  }
});

test('files and folders that are not of the run are named', () => {
  const { problems } = verifiedAfter((folder) => {
    mkdirSync(join(folder, 'more'));
    writeFileSync(join(folder, 'notes.txt'), 'Monday');
    writeFileSync(join(folder, '.lock'), '{}');
  });
  expect(problems.split('\n')).toEqual([
    'more:1: is not a regular file, so it is not of this run. Move it elsewhere',
    'notes.txt:1: is not a file of this run. Move it elsewhere',
  ]);
});

inFullSuite('a recording under the name of another rollout is a copy', () => {
  const { problems } = verifiedAfter((folder) => {
    for (const ending of ['traj', 'sidecar'])
      copyFileSync(join(folder, `${trial}.${ending}.jsonl`), join(folder, `lamp-variant.2.${ending}.jsonl`));
  });
  expect(problems).toContain(
    `lamp-variant.2.traj.jsonl:1: has the contents of ${trial}.traj.jsonl: one of them is a copy`,
  );
  expect(problems).toContain(`lamp-variant.2.traj.jsonl:1: is the recording of ${trial}, under another name`);
  expect(problems).toContain('lamp-variant.2.traj.jsonl:1: is not one of the rollouts that run.json lists');
});

const stranger = () => signingKey(join(root, 'stranger.pem'));

test.skipIf(process.platform === 'win32').each(tamperings.map((each) => [each.name, each] as const))(
  'tampering: %s',
  (_, { tamper, names, needsId }) => {
    const before = runIdIn(whole);
    const { problems, missing } = verifiedAfter(
      (folder) => tamper({ folder, other, key, stranger: stranger() }),
      needsId ? before : undefined,
    );
    if (names === null) expect([problems, missing]).toEqual(['', []]);
    else expect(`${problems}\n${missing.join()}`).toContain(names);
  },
);

test('docs/security-tampering.md lists at least 50 kinds of tampering and what finds them', async () => {
  const found = tamperings.filter(({ names }) => names !== null);
  const rows = tamperings.map(({ name, names, needsId, reason }) => {
    const [where = '', ...what] = name.split(': ');
    return [
      where,
      what.join(': '),
      names === null ? 'not found' : needsId ? '`verify --run ID`' : '`verify`',
      reason ?? '',
    ];
  });
  const counts = `${tamperings.length} kinds: ${found.length} are found, ${tamperings.length - found.length} cannot be found.`;
  const table = `${counts}\n\n${markdownTable([['In', 'Tampering', 'Found by', 'Why not'], ...rows])}`;
  const page = join(import.meta.dirname, '../../../docs/security-tampering.md');
  await expect(withGenerated(readFileSync(page, 'utf8'), 'tampering', table)).toMatchFileSnapshot(page);
  expect(found.length).toBeGreaterThanOrEqual(50);
  expect(new Set(tamperings.map(({ name }) => name)).size).toBe(tamperings.length);
});
