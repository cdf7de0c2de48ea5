// The time from a keystroke to its findings, and how long the extension host is blocked by it. The worker of the packaged
// extension gets each change as the editor sends it, and answers with its findings. The value of 95 of 100 keystrokes
// counts. The editor's own time until it draws a mark is not included.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ensureBuilt } from '../scripts/build.ts';
import { inRoot } from '../scripts/repository.ts';
import { describeCodeTools } from '../src/engine/shell/describe.ts';
import { loadDomain } from '../src/engine/shell/domain/loadDomain.ts';
import { codeStamp } from '../src/language/service/codeStamp.ts';
import type { DomainOutline } from '../src/language/service/domainRow.ts';
import type { FromService, ToService } from '../src/language/service/messages.ts';
import { pageSize } from '../src/language/symbols/pages.ts';
import { airlineDomain } from './airline.ts';
import type { Show } from './measure.ts';
import { type Measured, median, rounds } from './measure.ts';

/** Measures keystrokes in order-desk, an airline domain and a domain of 2,000 tasks, and the loading of 100,000 tasks. */
export async function measureLanguage(show: Show): Promise<readonly Measured[]> {
  await ensureBuilt();
  const scratch = mkdtempSync(join(tmpdir(), 'rehearsal-bench-language-'));
  try {
    const desk = join(scratch, 'order-desk');
    cpSync(inRoot('domains', 'order-desk'), desk, { recursive: true, filter: (path) => !path.includes('.rehearsal') });
    await inDomain(show, desk, 'order-desk', 'tasks/train.task.yaml', 100);
    await inDomain(show, desk, 'order-desk', 'rules.yaml', 100);
    await inDomain(show, desk, 'order-desk', 'policy.md', 100);
    const airline = await airlineDomain(scratch);
    await inDomain(
      show,
      airline.folder,
      `airline, ${airline.megabytes.toFixed(1)} MB, ${airline.origin}`,
      airline.tasks,
      300,
    );
    await inDomain(
      show,
      airline.folder,
      `airline, ${airline.megabytes.toFixed(1)} MB, ${airline.origin}`,
      'policy.md',
      300,
    );
    await inDomain(
      show,
      airline.folder,
      `the data of airline, ${airline.megabytes.toFixed(1)} MB, ${airline.origin}`,
      'database.json',
      300,
    );
    const large = join(scratch, 'large');
    cpSync(desk, large, { recursive: true });
    manyTasks(large, 2000, 10);
    await inDomain(show, large, '2,000 tasks in 200 files', 'tasks/many-7.task.yaml');
    const huge = join(scratch, 'huge');
    cpSync(desk, huge, { recursive: true });
    const count = rounds(100_000, 5000);
    manyTasks(huge, count, 500);
    const megabytes = rounds(100, 5);
    enlargeDatabase(huge, megabytes * 1e6);
    const what = `${count.toLocaleString('en')} tasks in ${count / 500} files, a database of ${megabytes} MB`;
    await whileLoading(show, huge, what);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return [];
}

/** Writes copies of a task with new ids. Each has a finding, because their texts are equal. */
function manyTasks(folder: string, count: number, perFile: number): void {
  const text = readFileSync(join(folder, 'tasks', 'returns.task.yaml'), 'utf8');
  const [task = ''] = text.split(/^(?=- id: )/m);
  mkdirSync(join(folder, 'tasks'), { recursive: true });
  for (let file = 0; file < count / perFile; file++) {
    const tasks = Array.from({ length: perFile }, (_, index) =>
      task
        .replace(/^- id: .*$/m, `- id: many-${file}-${index}`)
        .replace(/description: .*$/m, `description: Number ${file} ${index}.`),
    );
    writeFileSync(join(folder, 'tasks', `many-${file}.task.yaml`), tasks.join(''));
  }
}

/** Adds copies of a customer with new ids until the database has a number of bytes. */
function enlargeDatabase(folder: string, bytes: number): void {
  const file = join(folder, 'database.json');
  const text = readFileSync(file, 'utf8');
  const [whole = '', row = ''] = /"C101": (\{.*?\}),?$/m.exec(text) ?? [];
  const copies = Math.ceil((bytes - text.length) / (row.length + '"C1000000": ,\n'.length));
  const added = Array.from({ length: copies }, (_, index) => `"C${1_000_000 + index}": ${row}`);
  writeFileSync(
    file,
    text.replace(whole, () => `${added.join(',\n')},\n${whole}`),
  );
}

/** Measures the longest time that messages of the worker block the extension host, until all tasks are shown. */
async function whileLoading(show: Show, folder: string, what: string): Promise<void> {
  const worker = new Worker(inRoot('dist', 'language.mjs'));
  const tell = (message: ToService) => worker.postMessage(message);
  const hear = async <Type extends FromService['type']>(type: Type) => {
    for (;;) {
      const message = await new Promise<FromService>((resolve) => worker.once('message', resolve));
      if (message.type === type) return message as Extract<FromService, { type: Type }>;
    }
  };
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const begun = performance.now();
  tell({ type: 'touch', folder });
  delay.enable();
  await hear('found');
  const loaded = (performance.now() - begun) / 1000;
  tell({ type: 'row', id: 0, folder, grouping: 'split' });
  const { groups } = (await hear('answer')).value as DomainOutline;
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  for (let from = 0; from < count; from += pageSize) {
    tell({ type: 'taskRows', id: 0, folder, from, to: from + pageSize });
    await hear('answer');
  }
  delay.disable();
  const note = `${what}; all findings and all rows of the Test Explorer, without the items that VS Code makes of them`;
  show({ name: 'tasks to their findings', value: loaded, unit: 's', note: what });
  show({
    name: 'the longest time that the extension host is held while tasks load',
    value: delay.max / 1e6,
    unit: 'ms',
    note,
    promise: { at: 'most', value: 100 },
  });
  await worker.terminate();
}

async function inDomain(show: Show, folder: string, what: string, path: string, promise?: number): Promise<void> {
  const worker = new Worker(inRoot('dist', 'language.mjs'));
  const tell = (message: ToService) => worker.postMessage(message);
  const hear = () => new Promise<FromService>((resolve) => worker.once('message', resolve));
  const file = join(folder, path);
  const text = readFileSync(file, 'utf8');
  tell({ type: 'touch', folder });
  await hear();
  // Like in a trusted folder, the tools that its code describes are known, and arguments are checked against them.
  const loaded = loadDomain(folder);
  const tools = await describeCodeTools(loaded);
  tell({ type: 'described', folder, stamp: codeStamp(loaded), tools, isWhole: true });
  await hear();
  tell({ type: 'text', folder, file, text });
  await hear();
  const offset = text.indexOf('\n', text.length / 2);
  if (offset < 0) throw new Error(`${path} has no line in its second half to type in`);
  const times: number[] = [];
  const sends: number[] = [];
  for (let round = 0; round < rounds(40, 5); round++) {
    const begun = performance.now();
    tell({ type: 'change', folder, file, changes: [{ offset: offset + round, length: 0, text: ' ' }] });
    sends.push(performance.now() - begun);
    const { type } = await hear();
    if (type !== 'found') throw new Error(`the worker answered ${type}`);
    times.push(performance.now() - begun);
  }
  const worst = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
  const note = `${path}; 95 of 100 keystrokes; median ${median(times).toFixed(0)} ms`;
  show({
    name: `a keystroke to its findings: ${what}`,
    value: worst,
    unit: 'ms',
    note,
    ...(promise === undefined ? {} : { promise: { at: 'most', value: promise } as const }),
  });
  show({
    name: `the extension host is held by it: ${what}`,
    value: median(sends),
    unit: 'ms',
    note: path,
    promise: { at: 'most', value: 5 },
  });
  show({
    name: `the last of 20 keystrokes in a second to its findings: ${what}`,
    value: median(await bursts(worker, tell, { folder, file, offset })),
    unit: 'ms',
    note: path,
    ...(promise === undefined ? {} : { promise: { at: 'most', value: promise } as const }),
  });
  await worker.terminate();
}

type CursorPosition = { readonly folder: string; readonly file: string; readonly offset: number };

/** Sends 20 keystrokes without waiting, five times. Returns the ms from each last one until the worker's last answer. */
async function bursts(worker: Worker, tell: (message: ToService) => void, { folder, file, offset }: CursorPosition) {
  const times: number[] = [];
  for (let round = 0; round < rounds(5); round++) {
    let heard = Number.NaN;
    const listen = () => {
      heard = performance.now();
    };
    worker.on('message', listen);
    for (let key = 0; key < 20; key++) {
      tell({ type: 'change', folder, file, changes: [{ offset: offset + key, length: 0, text: ' ' }] });
      if (key < 19) await setTimeout(50);
    }
    const last = performance.now();
    await setTimeout(1500);
    worker.off('message', listen);
    if (Number.isNaN(heard)) throw new Error('the worker did not answer 20 keystrokes');
    times.push(heard - last);
  }
  return times;
}
