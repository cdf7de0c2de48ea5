import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import nodeInspector from 'node:inspector';
import { join } from 'node:path';
import { format } from 'node:util';
import { codeTools, describeTools, syncIn } from '../../authoring.ts';
import { useNativeHash } from '../../core/values/hash.ts';
import { readLines } from '../files/boundedLines.ts';
import { messageOf } from '../files/fault.ts';
import { verifierTools } from './customVerifiers.ts';
import { DomainCodeError, errorLocation, importDomain, installDomainModules, warmStripper } from './domainModules.ts';
import { warmWhileIdle } from './idleWarming.ts';
import { WorkerWriter } from './workerChannel.ts';
import { WorkerHost } from './workerHost.ts';
import { WorkerInspector } from './workerInspector.ts';
import { MarkWriter } from './workerMarker.ts';
import type { ToInspector, ToWorker, WorkerOpening } from './workerMessage.ts';
import { shippedModules, type WorkerSettings, workerFiles } from './workerSettings.ts';

/**
 * The entry of a worker: a child process that folds rollouts and runs a domain's code. Its parent speaks to it on
 * standard input; it answers on its own channel, so that whatever the domain prints can't get in between.
 */
const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;
const writer = new WorkerWriter(workerFiles.channel);
const mark = new MarkWriter(workerFiles.marker);
const inspector = new WorkerInspector(settings.isInspectable, writer);
let host: WorkerHost | null = null;
let isOpening = false;

// Bubblewrap adds it; the environment of a domain's code is the same with and without a sandbox.
delete process.env['PWD'];
useNativeHash((text) => hash('sha256', text, 'hex'));
setInterval(() => mark.beat(), 500).unref();
routeConsole();
explainExit();
listen();
if (settings.isEarly) {
  warmStripper();
  warmWhileIdle(() => !isOpening);
}

/** Imports the domain's tools and describes them. */
async function open({ toolsFile, timeoutMs }: WorkerOpening): Promise<void> {
  isOpening = true;
  const { folder } = settings;
  try {
    await installDomainModules({ folder, shipped: shippedModules(import.meta.url) });
    const file = join(folder, toolsFile);
    const exports = existsSync(file) ? await importDomain(folder, file) : {};
    const tools = describeTools(exports, timeoutMs);
    const runnable = new Map([...codeTools(exports), ...(await verifierTools(folder))]);
    const sync = syncIn(exports);
    host = new WorkerHost({ folder, tools: runnable, sync, writer, mark, inspector, timeoutMs });
    writer.send({ type: 'described', tools, sync: sync !== null });
  } catch (error) {
    const failure =
      error instanceof DomainCodeError
        ? error.failure
        : {
            who: 'environment' as const,
            code: 'tool/code',
            message: messageOf(error),
            file: join(folder, toolsFile),
          };
    writer.send({ type: 'notDescribed', failure });
  }
}

/** Messages of the parent, one JSON line each, which with the databases is long. Its end is the worker's end. */
function listen(): void {
  const read = (line: string): void => {
    const message = JSON.parse(line) as ToWorker | ToInspector | WorkerOpening;
    if (message.type === 'open') void open(message);
    else if (message.type === 'inspect') inspector.open();
    else if (message.type === 'uninspect') inspector.close();
    else host?.receive(message);
  };
  readLines(process.stdin, read, { longest: Number.POSITIVE_INFINITY });
  process.stdin.on('end', () => process.exit(0));
  // Ctrl+C in a terminal reaches every process; the parent cancels the rollouts, which they can only record alive.
  process.on('SIGINT', () => undefined);
}

/** Turns domain code's output into log messages of its rollout. A debugger's console shows it too. */
function routeConsole(): void {
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    console[method] = (...values: unknown[]) => {
      writer.send({ type: 'log', rollout: host?.running ?? null, text: format(...values) });
      if (inspector.isOpen) (nodeInspector.console as unknown as Console)[method](...values);
    };
  }
}

/** An exit that domain code asks for, or an exception that no one caught, says where it came from before it happens. */
function explainExit(): void {
  const exit = process.exit.bind(process);
  const say = (what: string, error: unknown) => {
    const place = errorLocation(error, settings.folder);
    host?.blame();
    writer.exiting(place ? { message: what, file: place.file, line: place.line } : { message: what });
  };
  process.exit = ((code?: number) => {
    const at = new Error('exit');
    if (errorLocation(at, settings.folder)) say(`called process.exit(${code ?? 0})`, at);
    exit(code);
  }) as typeof process.exit;
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      say(`threw an uncaught error: ${messageOf(error)}`, error);
      exit(1);
    });
  }
}
