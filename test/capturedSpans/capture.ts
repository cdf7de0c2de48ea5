// Captures the spans that published libraries of agents record. `npm run test:spans` calls it.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Copy, npmFolder, obstacleOf, pythonWith } from '../../scripts/benchmarks/copy.ts';
import { runCommand } from '../../scripts/process.ts';
import { announce, Failure, runMain, warn } from '../../scripts/terminal.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { differenceIn } from './expected.ts';
import { type Library, libraries } from './libraries.ts';
import { serveOrderModel } from './orderModel.ts';

const usage = `Usage: npm run test:spans -- [--write] [LIBRARY ...]

Installs published libraries of agents into the cache folder, lets each have one conversation with a scripted model (two
turns, parallel calls, a failed attempt), and imports the spans that it records. --write keeps the spans in
test/capturedSpans/captured, where npm test reads them. The libraries: ${libraries.map(({ name }) => name).join(', ')}.`;

const folder = import.meta.dirname;

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' }, write: { type: 'boolean' } },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const stranger = positionals.find((each) => libraries.every(({ name }) => name !== each));
  if (stranger !== undefined) throw new Failure(`${stranger} is not one of the libraries.\n\n${usage}`);
  let failures = 0;
  for (const library of libraries.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    const copy = copyOf(library);
    const obstacle = await obstacleOf(copy);
    if (obstacle !== null) {
      warn(`SKIPPED: ${library.name}: ${obstacle}`);
      continue;
    }
    announce(library.label);
    const work = temporaryFolder('spans');
    const file = join(work, `${library.name}.jsonl`);
    const output = await recorded(library, copy, work, file);
    const difference = await differenceIn(file, library);
    if (difference !== null) {
      failures += 1;
      warn(`${library.name} differs:\n${difference}\n${output}`);
    } else if (values.write) {
      mkdirSync(join(folder, 'captured'), { recursive: true });
      copyFileSync(file, join(folder, 'captured', `${library.name}.jsonl`));
    }
    rmSync(work, { recursive: true, force: true });
  }
  return failures > 0 ? 1 : 0;
}

function copyOf({ name, registry, packages, bytes }: Library): Copy {
  const source = {
    name: `spans-${name.replace('-earlier', '')}`,
    variable: `REHEARSAL_SPANS_${name.toUpperCase().replaceAll('-', '_')}`,
    bytes,
  };
  return registry === 'npm' ? npmFolder(packages, source) : pythonWith(packages, source);
}

/** Runs the conversation with a library, and writes its spans to a file. Returns the printed output. */
async function recorded({ registry, desk, env }: Library, copy: Copy, cwd: string, file: string): Promise<string> {
  const model = await serveOrderModel();
  try {
    writeFileSync(file, '');
    const own = join(folder, 'desks', desk);
    // A module resolves packages from the folders above it.
    const script = registry === 'npm' ? join(copy.path(), desk) : own;
    if (script !== own) copyFileSync(own, script);
    const program = registry === 'npm' ? process.execPath : copy.path();
    const { output } = await runCommand(program, [script], {
      cwd,
      env: { ...process.env, ...env, MODEL_URL: model.url, SPANS_FILE: file, OTEL_ATTRIBUTE_COUNT_LIMIT: '4096' },
    });
    writeFileSync(file, withoutPlaces(readFileSync(file, 'utf8')));
    return output;
  } finally {
    model.close();
  }
}

/** Removes data about the machine: stack traces, the port of the model, and the host attributes of the SDK. */
function withoutPlaces(text: string): string {
  const plain = (key: string, value: unknown) => {
    if (key === 'exception.stacktrace' || key === 'resource') return undefined;
    if (typeof value !== 'string') return value;
    return value
      .replace(/\n*(?:Traceback \(most recent call last\)| +at \S)[\s\S]*/, '')
      .replace(/(?<=127\.0\.0\.1:)\d+/g, '8000');
  };
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => `${JSON.stringify(JSON.parse(line, plain))}\n`).join('');
}

await runMain(main);
