import { isAbsolute } from 'node:path';
import { loadDomain } from '../../../engine/shell/domain/loadDomain.ts';
import type { Fault } from '../../../engine/shell/files/fault.ts';
import type { Interpreter } from '../../python/pythonEnvironment.ts';
import { throwUnlessRoomFor } from '../diskRoom.ts';
import { type Gpus, throwUnlessGpus, withProfile } from '../gpus.ts';
import { domainsOf } from '../keys.ts';
import type { Launch, Plan } from '../target.ts';
import { environmentFault } from '../targetFaults.ts';
import type { SshAddress } from './address.ts';
import { askRemoteAgent, openSsh } from './remoteAgent.ts';

/** The facts that the target reports about its machine. */
export type Machine = {
  /** The target's folder, as its own machine names it. */
  readonly folder: string;
  readonly python: string;
  readonly canMakeEnvironments: boolean;
  readonly isWritable: boolean;
  /** The folder, or the first one above it that is there. */
  readonly at: string;
  readonly free: number;
  readonly cacheFree: number;
  readonly hasEnvironment: boolean;
  /** The GPUs; a text says why there are none. */
  readonly gpus: Gpus;
  /** Why the hub refuses the model; null if it does not, or can't be queried. */
  readonly refusal: 'unknown' | 'closed' | null;
  readonly commands: Readonly<Record<string, boolean>>;
};

/** An alternative to freeing disk space. */
export const roomElsewhere = 'name a folder on another disk in the address';
/** The disk space of the trainer's environment; PyTorch includes the CUDA libraries for a GPU. */
const environmentDisk = { cpu: 3 * 2 ** 30, gpu: 10 * 2 ** 30 };
/**
 * The size of pip's downloads for it: measured for a CPU, estimated for a GPU, where PyTorch requires CUDA packages.
 */
const environmentBytes = { cpu: 617e6, gpu: 3.5e9 };
/** Node comes with the trainer's environment. */
const broughtCommands = ['node', 'npm', 'npx'];

const usual = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];

/**
 * The Python of the target that runs the remote agent: the first one there that is new enough. It outlives the
 * connection, which a container does not, so one that was named with arguments is only used to train.
 */
export async function farPython(address: SshAddress, given: Interpreter | undefined): Promise<string> {
  if (given?.some((word) => /['"`$\\\n]/.test(word)))
    throw environmentFault('python/missing', `--python ${given.join(' ')}: name it without quotes, $ and backslashes`);
  const isNew = '-c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null';
  const words = given?.map((word) => (/^[\w./~+=:,-]+$/.test(word) ? word : `"${word}"`)).join(' ');
  const tried = words === undefined ? '' : `${words} ${isNew} || { echo "python: none"; exit 0; }; `;
  const named = given?.length === 1 && /^[\w./~+-]+$/.test(given[0]) ? [given[0]] : [];
  const search = `for p in ${[...usual, ...named].join(' ')}; do "$p" ${isNew} && { echo "python: $p"; exit 0; }; done; echo "python: none"`;
  const call = openSsh(address, `sh -c '${tried}${search}'`);
  let line = await call.answers.line();
  while (line !== null && !line.startsWith('python: ')) line = await call.answers.line();
  await call.end();
  const found = line?.slice('python: '.length);
  if (found !== undefined && found !== 'none') return found;
  const what = words ?? 'python3';
  throw environmentFault(
    'python/missing',
    `${what} on ${address.host} is not Python 3.11 or newer: install it there, or name it with --python (in the editor: "python" of the target in the settings)`,
  );
}

/**
 * Looks at the machine of a target. Throws a `Fault` for what would make a run fail there.
 * @param bytes what is to be copied
 * @param keys variables of the run's environment
 */
export async function lookAt(
  address: SshAddress,
  python: string,
  asked: Launch,
  bytes: number,
  keys: Readonly<Record<string, string>>,
): Promise<{ readonly machine: Machine; readonly launch: Launch; readonly reason: string }> {
  const { host } = address;
  const commands = domainsOf(asked.config).flatMap(serverCommands);
  const model = hubModelOf(asked);
  const request = { do: 'look', commands: commands.map(({ command }) => command), model, environment: keys };
  const machine = await askRemoteAgent<Machine>(address, python, request);
  const { launch, reason } = withProfile(asked, machine.gpus);
  if (!machine.canMakeEnvironments && !launch.python)
    throw environmentFault(
      'python/venv',
      `Python ${machine.python} on ${host} can't make environments: install its venv module there (on Debian and Ubuntu the package python3-venv)`,
    );
  if (!machine.isWritable)
    throw environmentFault(
      'target/folder',
      `${machine.at} on ${host} can't be written: name a folder that you own in the target's address, such as ssh://${host}/~/rehearsal`,
    );
  throwUnlessRoomFor(bytes + (launch.disk ?? 0), machine.free, `in ${machine.at} on ${host}`, roomElsewhere);
  if (!machine.hasEnvironment && !launch.python)
    throwUnlessRoomFor(
      typeof machine.gpus === 'string' ? environmentDisk.cpu : environmentDisk.gpu,
      machine.cacheFree,
      `for Python packages in the home folder on ${host}`,
      'set REHEARSAL_CACHE there to another disk',
    );
  throwUnlessGpus(host, machine.gpus, launch);
  if (machine.refusal) throw modelFault(String(launch.config['model']), machine.refusal);
  for (const { server, command } of commands)
    if (machine.commands[command] === false && !broughtCommands.includes(command))
      throw environmentFault(
        'mcp/command',
        `the MCP server ${server} is started with ${command}, which is not on the PATH of ${host}: install it there`,
      );
  return { machine, launch, reason };
}

/** Returns what the trainer's environment downloads there, by what pip reported for each device. */
export function environmentDownload({ hasEnvironment, gpus }: Machine, { python }: Launch): Plan['downloads'] {
  if (hasEnvironment || python) return [];
  const bytes = typeof gpus === 'string' ? environmentBytes.cpu : environmentBytes.gpu;
  return [{ what: "the trainer's Python environment", bytes }];
}

/** The model's name on the Hugging Face hub; null for one that Rehearsal or this machine brings. */
function hubModelOf({ config }: Launch): string | null {
  const { model } = config;
  return typeof model !== 'string' || model === 'smollm2' || model === 'tiny' || isAbsolute(model) ? null : model;
}

function modelFault(model: string, refusal: 'unknown' | 'closed'): Fault {
  if (refusal === 'closed')
    return environmentFault(
      'model/closed',
      `the Hugging Face hub denies access to "${model}": request access on its page, and set HF_TOKEN`,
    );
  return environmentFault(
    'model/unknown',
    `"${model}" is neither smollm2, tiny, a folder with a model or adapter, nor a model that the Hugging Face hub knows: check the name; one that is not public needs HF_TOKEN`,
  );
}

/** The commands that the MCP servers of a domain are started with, where they are names on the PATH. */
function serverCommands(domain: string): { readonly server: string; readonly command: string }[] {
  const { mcpServers } = loadDomain(domain, { soundness: false }).file;
  return Object.entries(mcpServers).flatMap(([server, declared]) =>
    declared.type === 'stdio' && /^[\w.+-]+$/.test(declared.command) ? [{ server, command: declared.command }] : [],
  );
}
