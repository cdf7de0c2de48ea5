import { Fault } from '../../engine/shell/fault.ts';
import { loadDomain } from '../../engine/shell/load/loadDomain.ts';
import { throwUnlessRoomFor } from './diskRoom.ts';
import { askFarSide, openSsh } from './farSide.ts';
import { domainsOf } from './keys.ts';
import type { SshAddress } from './sshAddress.ts';
import type { Launch } from './target.ts';

/** What the far side says of its machine. */
export type Machine = {
  /** The target's folder, as its own machine names it. */
  readonly folder: string;
  readonly python: string;
  readonly system: string;
  readonly canMakeEnvironments: boolean;
  readonly isWritable: boolean;
  /** The folder, or the first one above it that is there. */
  readonly at: string;
  readonly free: number;
  readonly cacheFree: number;
  readonly hasEnvironment: boolean;
  /** Why there are none, where it is a text. */
  readonly gpus: readonly { readonly name: string; readonly driver: string; readonly megabytes: number }[] | string;
  readonly commands: Readonly<Record<string, boolean>>;
};

const usualDisk = 2 ** 30;
/** What the trainer's environment takes; PyTorch brings the libraries of CUDA for a GPU. */
const environmentDisk = { cpu: 3 * 2 ** 30, gpu: 10 * 2 ** 30 };
/** The oldest driver of CUDA 13.0, which the pinned PyTorch is built with on PyPI. */
const oldestDriver = 580;
const profilesOfGpus = ['gpu', 'paper'];
/** Node comes with the trainer's environment. */
const broughtCommands = ['node', 'npm', 'npx'];

const search =
  'for p in python3 python3.14 python3.13 python3.12 python3.11; do "$p" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null && { echo "python: $p"; exit 0; }; done; echo "python: none"';

/** The Python of the target: the one that was named, else the first one there that is new enough. */
export async function farPython(address: SshAddress, given: string | undefined): Promise<string> {
  if (given !== undefined && !/^[\w./~+-]+$/.test(given))
    throw fault('python/missing', `--python ${given}: name a command or a path of ${address.host}, without blanks`);
  const test = `"$p" -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null && echo "python: $p" || echo "python: none"`;
  const command = given === undefined ? search : `p=${given}; ${test}`;
  const call = openSsh(address, `sh -c '${command}'`);
  let line = await call.answers.line();
  while (line !== null && !line.startsWith('python: ')) line = await call.answers.line();
  await call.end();
  const found = line?.slice('python: '.length);
  if (found !== undefined && found !== 'none') return found;
  const what = given ?? 'python3';
  throw fault(
    'python/missing',
    `${what} on ${address.host} is no Python 3.11 or newer: install one there, or name it with --python (in the editor: "python" of the target in the settings)`,
  );
}

/**
 * Looks at the machine of a target. Throws a `Fault` for what would make a run fail there.
 * @param bytes what is to be copied
 */
export async function lookAt(address: SshAddress, python: string, launch: Launch, bytes: number): Promise<Machine> {
  const { host } = address;
  const commands = domainsOf(launch.config).flatMap(serverCommands);
  const request = { do: 'look', commands: commands.map(({ command }) => command) };
  const machine = await askFarSide<Machine>(address, python, request);
  if (machine.system === 'Windows')
    throw fault('target/system', `${host} runs Windows: a target over SSH is a machine with Linux or macOS`);
  if (!machine.canMakeEnvironments)
    throw fault(
      'python/venv',
      `Python ${machine.python} on ${host} can't make environments: install its venv module there (on Debian and Ubuntu the package python3-venv)`,
    );
  if (!machine.isWritable)
    throw fault(
      'target/folder',
      `${machine.at} on ${host} can't be written: name a folder of your own in the target's address, such as ssh://${host}/~/rehearsal`,
    );
  const needed = bytes + (launch.disk ?? usualDisk);
  throwUnlessRoomFor(
    needed,
    machine.free,
    `in ${machine.at} on ${host}`,
    'name a folder on another disk in the address',
  );
  if (!machine.hasEnvironment)
    throwUnlessRoomFor(
      typeof machine.gpus === 'string' ? environmentDisk.cpu : environmentDisk.gpu,
      machine.cacheFree,
      `for Python packages in the home folder on ${host}`,
      'set REHEARSAL_CACHE there to another disk',
    );
  checkGpu(host, machine, launch);
  for (const { server, command } of commands)
    if (machine.commands[command] === false && !broughtCommands.includes(command))
      throw fault(
        'mcp/command',
        `the MCP server ${server} is started with ${command}, which is not on the PATH of ${host}: install it there`,
      );
  return machine;
}

function checkGpu(host: string, { gpus, system }: Machine, { config }: Launch): void {
  const profile = String(config['profile']);
  if (!profilesOfGpus.includes(profile) || system === 'Darwin') return;
  if (typeof gpus === 'string' || gpus.length === 0)
    throw fault(
      'gpu/missing',
      `the profile ${profile} wants a GPU, and ${host} shows none (${typeof gpus === 'string' ? gpus : 'nvidia-smi lists none'}): choose --profile cpu, or a machine with an NVIDIA GPU and its driver`,
    );
  const old = gpus.find(({ driver }) => Number.parseInt(driver, 10) < oldestDriver);
  if (old)
    throw fault(
      'gpu/driver',
      `the driver ${old.driver} of ${old.name} on ${host} is too old for the trainer's PyTorch: install ${oldestDriver} or newer there`,
    );
}

/** The commands that the MCP servers of a domain are started with, where they are names on the PATH. */
function serverCommands(domain: string): { readonly server: string; readonly command: string }[] {
  const { mcpServers } = loadDomain(domain, { soundness: false }).file;
  return Object.entries(mcpServers).flatMap(([server, declared]) =>
    declared.type === 'stdio' && /^[\w.+-]+$/.test(declared.command) ? [{ server, command: declared.command }] : [],
  );
}

function fault(code: string, message: string): Fault {
  return new Fault({ who: 'environment', code, message });
}
