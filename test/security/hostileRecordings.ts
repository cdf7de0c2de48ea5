import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { replaceFile } from '../../src/engine/shell/files/disk.ts';
import { lockRun } from '../../src/engine/shell/records/runLock.ts';
import { lastWordOf } from '../../src/engine/shell/records/trainingRun.ts';
import { page } from '../../src/extension/panels/page.ts';
import { csvOf } from '../../src/webview/models/csv.ts';
import { fileOf, linesOf, rechained } from '../support/recordLines.ts';
import { sampled } from '../support/suite.ts';
import { type Printed, rehearsal } from '../support/terminal.ts';
import { rows, scratch } from './dataAttack.ts';
import { hasTerminal, shownInTerminal, terminalCommands } from './inTerminal.ts';

const domain = inRoot('domains', 'parcel-desk');
const recording = 'reschedule-P46.0.traj.jsonl';
const sidecar = 'reschedule-P46.0.sidecar.jsonl';
const kinds = sampled([recording, sidecar, 'run.json', 'ledger.jsonl'], 3);

let whole: Promise<string> | undefined;
/** A run of one real rollout. */
async function played(): Promise<string> {
  const folder = join(scratch(), 'run');
  const { code, err } = await rehearsal(
    'eval',
    domain,
    '--agent',
    'gold',
    '--tasks',
    'reschedule-P46',
    '--trials',
    '1',
    '--out',
    folder,
  );
  expect([code, err]).toEqual([0, expect.any(String)]);
  return folder;
}

/** A copy of the run. */
async function copied(): Promise<string> {
  whole ??= played();
  const folder = join(scratch(), 'run');
  cpSync(await whole, folder, { recursive: true });
  return folder;
}

/** Every command that reads a run or its recording. */
async function readAll(folder: string): Promise<readonly [verified: Printed, ...others: Printed[]]> {
  const path = join(folder, recording);
  return [
    await rehearsal('verify', folder),
    await rehearsal('report', folder),
    await rehearsal('report', folder, '--json', '--stream'),
    await rehearsal('replay', path),
    await rehearsal('explain', path),
    await rehearsal('compare', folder, folder),
  ];
}

/** Replaces each file of the run in turn, and reads the run. */
async function inPlaceOfEach(make: (file: string) => void): Promise<string> {
  for (const name of kinds) {
    const folder = await copied();
    rmSync(join(folder, name));
    make(join(folder, name));
    const [verified, ...others] = await readAll(folder);
    expect([1, 2]).toContain(verified.code);
    expect(`${verified.out}${verified.err}`).toContain(join(folder, name));
    for (const { out, err } of [...others, verified]) expect(`${out}${err}`).not.toContain('top secret');
  }
  return 'the file is reported and not read';
}

/** Changes the lines of a file of the run, and computes its hash chain again. */
async function rewritten(name: string, change: (lines: readonly string[]) => readonly string[]): Promise<string> {
  const folder = await copied();
  const path = join(folder, name);
  writeFileSync(path, fileOf(rechained(change(linesOf(readFileSync(path))))));
  return folder;
}

/** Replaces every message and result in the recording by a text. */
const saying = (text: string) =>
  rewritten(recording, (lines) =>
    lines.map((line) =>
      JSON.stringify(JSON.parse(line), (name, value: unknown) =>
        typeof value === 'string' && /^(?:content|reason|detail)$/.test(name) && !value.startsWith('user')
          ? text
          : value,
      ),
    ),
  );

const script = '<script>alert(1)</script><img src=x onerror=alert(1)>"]]>&';
const escapes = '\u001b]0;owned\u0007\u001b[2J\u001b]52;c;b3duZWQ=\u0007 seen';

/** Creates a file outside of the run, which would be lost if a command wrote through a link. */
function precious(): string {
  const path = join(scratch(), 'precious.txt');
  writeFileSync(path, 'precious\n');
  return path;
}

/** Resumes the run with the command line, in a folder with a planted link. */
async function continued(plant: (folder: string, target: string) => void): Promise<string> {
  const folder = await copied();
  const target = precious();
  plant(folder, target);
  await rehearsal('eval', domain, '--agent', 'gold', '--tasks', 'reschedule-P46', '--trials', '1', '--out', folder);
  expect(readFileSync(target, 'utf8')).toBe('precious\n');
  return 'the other file is unchanged';
}

const unfinished = (folder: string) => {
  const ledger = join(folder, 'ledger.jsonl');
  writeFileSync(ledger, fileOf(linesOf(readFileSync(ledger)).slice(0, 1)));
};

const files = 'Only regular files of limited size are read.';
const data = 'It is data: none of it runs or changes an object.';
const terminal = 'Its text does not control the terminal.';
const folders = 'It leads to no file outside the folder of the run.';
const locks = 'An abandoned lock does not block a run.';

export const recordingAttacks = [
  ...rows('Recording', files)(
    [
      'a link to another file in place of each file of a run',
      () => {
        const secret = join(scratch(), 'secret.txt');
        writeFileSync(secret, 'top secret\n');
        return inPlaceOfEach((file) => symlinkSync(secret, file));
      },
    ],
    [
      'a link to /dev/zero in place of each file of a run',
      () => inPlaceOfEach((file) => symlinkSync('/dev/zero', file)),
    ],
    ['a pipe in place of each file of a run', () => inPlaceOfEach((file) => void execFileSync('mkfifo', [file]))],
    ['a folder in place of each file of a run', () => inPlaceOfEach((file) => mkdirSync(file))],
    [
      'a file of 10 GB in place of each file of a run',
      () =>
        inPlaceOfEach((file) => {
          writeFileSync(file, '');
          truncateSync(file, 10_000_000_000);
        }),
    ],
    [
      'a pipe in place of the events of a training run',
      () => {
        const folder = scratch();
        execFileSync('mkfifo', [join(folder, 'events.jsonl')]);
        expect(() => lastWordOf(folder)).toThrow('is a device, a pipe or a socket');
        return 'refused: is a device, a pipe or a socket';
      },
    ],
    [
      'a line of 50 MB',
      async () => {
        const folder = await copied();
        writeFileSync(join(folder, recording), `{"n":0,"event":"${'x'.repeat(50_000_000)}"}\n`);
        const [verified] = await readAll(folder);
        expect(verified).toMatchObject({ code: 1, out: expect.stringContaining(`${recording}:1: `) });
        return 'found by `verify`, at its line';
      },
    ],
    [
      'a line with 100,000 nested lists',
      async () => {
        const folder = await copied();
        const [first = ''] = linesOf(readFileSync(join(folder, recording)));
        const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
        writeFileSync(join(folder, recording), `${first}\n{"n":1,"event":{"type":"worldPrepared","writes":${deep}}}\n`);
        const [verified] = await readAll(folder);
        expect(verified).toMatchObject({ code: 1, out: expect.stringContaining(`${recording}:2: `) });
        return 'found by `verify`, at its line';
      },
    ],
  ),
  ...rows('Recording', data)(
    [
      'writes to `__proto__` and `constructor`',
      async () => {
        for (const path of [
          ['__proto__', 'polluted'],
          ['constructor', 'prototype', 'polluted'],
        ]) {
          const folder = await rewritten(recording, (lines) =>
            lines.map((line) => line.replace('["parcels","P46","day"]', JSON.stringify(path))),
          );
          const { code } = await rehearsal('replay', join(folder, recording));
          expect([code, ({} as { polluted?: string }).polluted]).toEqual([1, undefined]);
        }
        return 'found by `replay`, no object is changed';
      },
    ],
    [
      'arguments and results with the key `__proto__`',
      async () => {
        const folder = await rewritten(recording, (lines) =>
          lines.map((line) => line.replaceAll('"arguments":{', '"arguments":{"__proto__":{"polluted":true},')),
        );
        await readAll(folder);
        expect(({} as { polluted?: true }).polluted).toBeUndefined();
        return 'no object is changed';
      },
    ],
    [
      'numbers beyond the range of a double',
      async () => {
        const folder = await copied();
        const path = join(folder, recording);
        writeFileSync(path, readFileSync(path, 'utf8').replace('"reward":1', '"reward":1e400'));
        const { code, out } = await rehearsal('report', folder);
        expect([code, out]).toEqual([1, expect.stringContaining('expected number, received Infinity')]);
        return 'refused: expected number, received Infinity';
      },
    ],
    [
      'HTML in names and texts, in the page of a report',
      async () => {
        const folder = await saying(script);
        const about = join(folder, 'run.json');
        const file = JSON.parse(readFileSync(about, 'utf8')) as object;
        writeFileSync(about, JSON.stringify({ ...file, domain: script, agent: script, user: script, seed: script }));
        const made = join(folder, 'report.html');
        await rehearsal('report', folder, '--html', made);
        const text = readFileSync(made, 'utf8');
        expect(text).toContain('&lt;script&gt;');
        expect(text).not.toMatch(/<(?:script|img)/i);
        expect(text).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
        return 'shown as text';
      },
    ],
    [
      'markup in names and texts, in JUnit XML',
      async () => {
        const folder = await saying(script);
        const about = join(folder, 'run.json');
        writeFileSync(about, JSON.stringify({ ...JSON.parse(readFileSync(about, 'utf8')), domain: `${script}\u0000` }));
        const made = join(folder, 'junit.xml');
        await rehearsal('report', folder, '--junit', made);
        const text = readFileSync(made, 'utf8');
        expect(text).toContain('&lt;script&gt;');
        expect(text).not.toMatch(/<(?:script|img)|\]\]>|\0/);
        return 'written as text';
      },
    ],
    [
      'an inline script in the page of a view',
      () => {
        let nonces = 0;
        const parts = { view: 'trajectory', title: 'T', source: 'https://s', script: 'a.js', styles: 'a.css' } as const;
        const html = page({ ...parts, nonce: () => `n${++nonces}` });
        const [, policy = ''] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
        const sources = Object.fromEntries(policy.split('; ').map((each) => each.split(/ (.*)/).slice(0, 2)));
        expect(sources['default-src']).toBe("'none'");
        expect(sources['script-src']).toBe("'nonce-n1'");
        expect(sources['style-src']).toBe("https://s 'nonce-n2'");
        return 'the content policy refuses it';
      },
    ],
    [
      'a formula in the names of a run and its metrics, in CSV',
      () => {
        const metrics = { '=cmd|calc!A0': 1, '+1': 2, '@x': 3 };
        const series = [{ step: 1, time: 0, metrics, superseded: false }];
        const text = csvOf([{ run: '=HYPERLINK("http://evil.test")', series }] as unknown as Parameters<
          typeof csvOf
        >[0]);
        for (const cell of text.split(/[,\r\n]+/)) expect(cell).not.toMatch(/^"?[=+@]/);
        return 'no cell starts with a formula';
      },
    ],
  ),
  ...rows(
    'Recording',
    terminal,
    hasTerminal,
  )(
    ...(['replay', 'explain'] as const).map(
      (command) =>
        [
          `escape sequences in its texts, shown by ${command}`,
          async () => {
            const folder = await saying(escapes);
            const shown = shownInTerminal([command, join(folder, recording)]);
            expect(shown).toContain('seen');
            expect(shown).not.toMatch(terminalCommands);
            return 'shown without them';
          },
        ] as const,
    ),
    [
      'escape sequences in the names of a run, shown by report',
      async () => {
        const folder = await copied();
        const about = join(folder, 'run.json');
        const file = JSON.parse(readFileSync(about, 'utf8')) as object;
        writeFileSync(about, JSON.stringify({ ...file, domain: escapes, agent: escapes }));
        const shown = shownInTerminal(['report', folder]);
        expect(shown).toContain('seen');
        expect(shown).not.toMatch(terminalCommands);
        return 'shown without them';
      },
    ],
  ),
  ...rows('Recording', folders)(
    [
      'a receipt that names a recording outside the folder',
      async () => {
        const folder = await copied();
        const ledger = join(folder, 'ledger.jsonl');
        cpSync(join(folder, recording), join(folder, '..', 'outside.traj.jsonl'));
        writeFileSync(ledger, readFileSync(ledger, 'utf8').replace(recording, '../outside.traj.jsonl'));
        rmSync(join(folder, recording));
        const { code, out } = await rehearsal('report', folder);
        expect([code, out]).toEqual([1, expect.stringContaining('outside.traj.jsonl is missing')]);
        return 'not read: is missing';
      },
    ],
    [
      'a fork whose parent is outside the folder',
      async () => {
        const folder = await copied();
        const secret = join(folder, '..', 'parent.traj.jsonl');
        writeFileSync(secret, 'top secret\n');
        const fork = recording.replace('.traj', '.fork-1.traj');
        const lines = linesOf(readFileSync(join(folder, recording)));
        const parent = { recording: '../parent.traj.jsonl', event: 3, chain: 'x', edit: 'none' };
        const first = JSON.parse(lines[0] ?? '') as { event: object };
        const forked = [JSON.stringify({ ...first, event: { ...first.event, parent } }), ...lines.slice(1)];
        writeFileSync(join(folder, fork), fileOf(rechained(forked)));
        const { code, out } = await rehearsal('verify', folder);
        expect([code, out]).toEqual([1, expect.stringContaining('forks from ../parent.traj.jsonl, which is missing')]);
        return 'not read: is missing';
      },
    ],
    ...(['run.json.new', recording, sidecar, 'ledger.jsonl', '.lock'] as const).map(
      (name) =>
        [
          `a link named ${name.replace(/reschedule-P46\.0/, 'ROLLOUT')} to an existing file, in a run that is resumed`,
          () =>
            continued((folder, target) => {
              if (name.startsWith('resch')) unfinished(folder);
              rmSync(join(folder, name), { force: true });
              symlinkSync(target, join(folder, name));
            }),
        ] as const,
    ),
    [
      'a link named run.json.new, where run.json is written',
      () => {
        const target = precious();
        const path = join(scratch(), 'run.json');
        symlinkSync(target, `${path}.new`);
        replaceFile(path, '{}');
        expect([readFileSync(target, 'utf8'), readFileSync(path, 'utf8')]).toEqual(['precious\n', '{}']);
        return 'the other file is unchanged';
      },
    ],
  ),
  ...rows('Recording', locks)(
    [
      'a lock that is a dangling link',
      () => {
        const folder = scratch();
        symlinkSync(join(folder, 'nowhere'), join(folder, '.lock'));
        lockRun(folder)();
        expect(existsSync(join(folder, 'nowhere'))).toBe(false);
        return 'the run is locked again';
      },
    ],
    [
      'a lock of a process that ended, whose PID another process has',
      () => {
        const folder = scratch();
        const { host } = lockedBy(folder);
        writeFileSync(join(folder, '.lock'), JSON.stringify({ pid: 1, host, start: 'another' }));
        lockRun(folder)();
        return 'the run is locked again';
      },
    ],
    [
      'a lock that is a pipe',
      () => {
        const folder = scratch();
        execFileSync('mkfifo', [join(folder, '.lock')]);
        expect(() => lockRun(folder)).toThrow(/is a device, a pipe or a socket/);
        return 'refused: is a device, a pipe or a socket';
      },
    ],
  ),
];

/** Returns the content of this process's lock. */
function lockedBy(folder: string): { readonly host: string } {
  const release = lockRun(folder);
  const text = readFileSync(join(folder, '.lock'), 'utf8');
  release();
  return JSON.parse(text) as { host: string };
}
