import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { mirror } from '../../src/cli/targets/mirror.ts';
import { LogReader } from '../../src/cli/targets/ray/follow.ts';
import { packageOf } from '../../src/cli/targets/ray/package.ts';
import { bytesOf } from '../../src/cli/targets/ssh/byteReader.ts';
import { sendTrees, type Tree, treeOf } from '../../src/cli/targets/trees.ts';
import { rehearsal } from '../support/terminal.ts';
import { rows, scratch } from './dataAttack.ts';

const secret = 'top secret';

/** Creates a domain next to a file and a folder of another person, and plants something in it. */
function domainWith(plant: (folder: string, beside: string) => void): string {
  const beside = scratch();
  mkdirSync(join(beside, 'private'));
  for (const name of ['secret.txt', 'private/key.pem']) writeFileSync(join(beside, name), secret);
  const folder = join(beside, 'desk');
  mkdirSync(folder);
  writeFileSync(join(folder, 'domain.yaml'), 'name: desk\n');
  writeFileSync(join(folder, 'policy.md'), '- Be kind.\n');
  plant(folder, beside);
  return folder;
}

/** Returns everything that is sent to a training target. */
async function sent(tree: Tree): Promise<string> {
  const chunks: Buffer[] = [];
  const nothing = async () => undefined;
  const send = async (chunk: string | Uint8Array) => void chunks.push(Buffer.from(chunk));
  const call = { answers: bytesOf(Readable.from([])), send, end: nothing, cut: () => undefined };
  await sendTrees(
    call,
    [tree],
    [...tree.files.values()].map(({ content }) => content),
  );
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns the files of a domain that are copied to a target over SSH and to a Ray cluster. */
async function copied(plant: (folder: string, beside: string) => void): Promise<readonly string[]> {
  const tree = treeOf(domainWith(plant));
  const text = await sent(tree);
  const { content } = await packageOf({ domain: tree }, {});
  expect(text).toContain('Be kind.');
  expect(text).not.toContain(secret);
  expect(Buffer.from(content).includes('secret.txt')).toBe(false);
  return [...tree.files.keys()];
}

const own = ['desk/domain.yaml', 'desk/policy.md'];
/** Expects the copy to be refused with the name of the link. */
const refuses = (plant: (folder: string, beside: string) => void) => () => {
  expect(() => treeOf(domainWith(plant))).toThrow(/is a link to .*, so it is not sent to another machine/);
  return 'refused: the link is reported';
};
const leavesOut = (plant: (folder: string, beside: string) => void) => async () => {
  expect(await copied(plant)).toEqual(own);
  return 'left out';
};

/** Mirrors a file of a target over SSH into a run's folder, which has another file next to it. Returns the refusal. */
async function mirrored(path: string, plant: (run: string, beside: string) => void = () => undefined): Promise<string> {
  const { run, precious } = runBeside(plant);
  const said = Buffer.from(`${JSON.stringify({ path, offset: 0, size: 1 })}\nx`);
  const nothing = async () => undefined;
  const call = { answers: bytesOf(Readable.from([said])), send: nothing, end: nothing, cut: () => undefined };
  const failure = await mirror(run, call, () => undefined).catch((error: Error) => error.message);
  return refusal(failure, precious);
}

/** Returns why a file was not written. */
function refusal(failure: unknown, precious: string): string {
  expect(readFileSync(precious, 'utf8')).toBe('precious');
  const [why] = /does not belong in a run's folder|is a symbolic link/.exec(String(failure)) ?? [];
  expect(why, String(failure)).toBeDefined();
  return `refused: ${why}`;
}

/** Does the same through the log of a job on a Ray cluster. */
function logged(path: string, plant: (run: string, beside: string) => void = () => undefined): string {
  const { run, precious } = runBeside(plant);
  const piece = { path, offset: 0, data: gzipSync('x').toString('base64') };
  const log = new LogReader(run, { job: 'j', told: 0 });
  try {
    log.read(`@rehearsal ${JSON.stringify(piece)}\n`);
  } catch (error) {
    return refusal((error as Error).message, precious);
  }
  return expect.unreachable('the file is written');
}

function runBeside(plant: (run: string, beside: string) => void) {
  const beside = scratch();
  const [run, precious] = [join(beside, 'run'), join(beside, 'precious')];
  mkdirSync(run);
  writeFileSync(precious, 'precious');
  plant(run, beside);
  return { run, precious };
}

const leaving = '../precious';
const linkToFile = (run: string, beside: string) => symlinkSync(join(beside, 'precious'), join(run, 'metrics.jsonl'));
const linkToFolder = (run: string, beside: string) => symlinkSync(beside, join(run, 'trajectories'));

const copies = 'Nothing outside the domain is copied to a training target.';
const folders = 'A target writes only into the folder of its run.';
const makes = 'A new domain overwrites nothing.';

export const copyAttacks = [
  ...rows('Copy', copies)(
    [
      'a link in the domain to a file outside it',
      refuses((folder, beside) => symlinkSync(join(beside, 'secret.txt'), join(folder, 'notes.txt'))),
    ],
    [
      'a link to a folder outside the domain',
      refuses((folder, beside) => symlinkSync(join(beside, 'private'), join(folder, 'docs'))),
    ],
    [
      'a link to a link to a file outside the domain',
      refuses((folder, beside) => {
        symlinkSync(join(beside, 'private'), join(folder, 'docs'));
        symlinkSync('docs/key.pem', join(folder, 'a.txt'));
      }),
    ],
    ['a link to the root folder', refuses((folder) => symlinkSync('/', join(folder, 'all')))],
    [
      'links to their parent folders, which would recurse forever',
      leavesOut((folder) => {
        for (const name of ['a', 'b', 'c']) symlinkSync('.', join(folder, name));
      }),
    ],
    [
      'a link to /dev/zero and a pipe',
      leavesOut((folder) => {
        symlinkSync('/dev/zero', join(folder, 'zero'));
        execFileSync('mkfifo', [join(folder, 'pipe')]);
      }),
    ],
    [
      'a file whose name looks like a path out of its folder',
      async () => {
        const names = await copied((folder) => {
          for (const name of ['..%2f..%2fescape', '..\\..\\escape', '...']) writeFileSync(join(folder, name), 'x');
        });
        expect(names.filter((name) => name.split('/').includes('..'))).toEqual([]);
        return 'copied under its own name';
      },
    ],
  ),
  ...rows('Training target', folders)(
    ['sends a file above the folder of its run, over SSH', () => mirrored(leaving)],
    ['sends a file with an absolute path, over SSH', () => mirrored('/etc/precious')],
    ['sends a file through a link to a file, over SSH', () => mirrored('metrics.jsonl', linkToFile)],
    ['sends a file through a link to a folder, over SSH', () => mirrored('trajectories/precious', linkToFolder)],
    ['sends the file that configures its connection, over SSH', () => mirrored('target.json')],
    ['sends a file above the folder of its run, from a Ray cluster', () => logged(leaving)],
    ['sends a file through a link to a file, from a Ray cluster', () => logged('metrics.jsonl', linkToFile)],
    [
      'sends a file through a link to a folder, from a Ray cluster',
      () => logged('trajectories/precious', linkToFolder),
    ],
  ),
  ...rows('Copy', makes)(
    [
      'a link in place of the folder of a new domain',
      async () => {
        const beside = scratch();
        const target = join(beside, 'elsewhere');
        mkdirSync(target);
        writeFileSync(join(target, 'domain.yaml'), 'precious');
        symlinkSync(target, join(beside, 'new'));
        const { code, err } = await rehearsal('new', join(beside, 'new'), '--template', 'empty');
        expect([code, err]).toEqual([2, expect.stringContaining('is not empty')]);
        expect(readFileSync(join(target, 'domain.yaml'), 'utf8')).toBe('precious');
        return 'refused: is not empty';
      },
    ],
    [
      'a dangling link in place of the folder of a new domain',
      async () => {
        const beside = scratch();
        symlinkSync(join(beside, 'nowhere'), join(beside, 'new'));
        const { code } = await rehearsal('new', join(beside, 'new'), '--template', 'empty');
        expect([code, existsSync(join(beside, 'nowhere'))]).toEqual([2, false]);
        return `refused: exit code ${code}`;
      },
    ],
  ),
];
