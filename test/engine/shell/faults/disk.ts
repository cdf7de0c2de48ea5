import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Affected,
  child,
  domain,
  evaluation,
  type FaultRow,
  fresh,
  gated,
  go,
  limited,
  play,
  printed,
  replayed,
  resumed,
  toolsHead,
  untouched,
} from './scene.ts';

const unshare = ['unshare', '--user', '--map-root-user', '--mount', '/bin/sh', '-c'];

function mountObstacle(): string | null {
  const probe = [...unshare.slice(1), 'mount -t tmpfs none "$0"', tmpdir()];
  return spawnSync(unshare[0] ?? '', probe).status === 0 ? null : 'this machine allows no mount to try it on';
}

const many = Array.from({ length: 6 }, () => 'tell');
const wordy = `${toolsHead}export const tell = tool({ description: 'Tell.', effect: 'read', input, run: () => 'word '.repeat(2000) });\n`;
const telling = () => domain(many, { 'tools.ts': wordy });
const again = (folder: string, run: string) => () => printed(child(evaluation(folder, run)));

/** Returns the size of the longest recording of a whole run, in bytes. */
async function bytesOf(folder: string): Promise<number> {
  const run = fresh();
  await again(folder, run)();
  return statSync(join(run, 'affected.0.traj.jsonl')).size;
}

/** Runs an evaluation on a separate disk of some kilobytes, and copies its files to `run` afterwards. */
function onDisk(kilobytes: number, folder: string, options = ''): Affected {
  const [disk, run] = [fresh(), fresh()];
  mkdirSync(disk);
  const mount = `mount -t tmpfs -o size=${kilobytes}k none ${disk} ${options}`;
  const lines = limited([...unshare, `${mount}; "$0" "$@"; code=$?; cp -r ${disk} ${run}; exit $code`], folder, disk);
  return { lines: lines.map((line) => line.replaceAll(disk, run)), run, folder, again: again(folder, run) };
}

export const disks: readonly FaultRow[] = [
  {
    fault: 'a disk that can only be read',
    injected: 'a tmpfs mounted read-only',
    sees: /^rehearsal eval: /,
    kept: untouched,
    obstacle: mountObstacle,
    inject: async () => {
      const affected = onDisk(100, domain([]), '-r');
      return affected;
    },
  },
  {
    fault: 'a full disk',
    injected: 'a tmpfs with room for half of the record',
    sees: /could not be run: .*the disk is full/,
    kept: resumed,
    obstacle: mountObstacle,
    inject: async () => {
      const folder = telling();
      const pages = Math.ceil((0.6 * (await bytesOf(folder))) / 4096);
      return onDisk(4 * pages + 24, folder);
    },
  },
  {
    fault: 'a limit on the size of files',
    injected: 'ulimit -f at half of the record',
    sees: /could not be run: .*EFBIG/,
    kept: resumed,
    obstacle: () => (process.platform === 'win32' ? 'Windows has no ulimit' : null),
    inject: async () => {
      const [folder, run] = [telling(), fresh()];
      const blocks = Math.floor((0.6 * (await bytesOf(folder))) / 512);
      const lines = limited(['/bin/sh', '-c', `ulimit -f ${blocks}; exec "$0" "$@"`], folder, run);
      return { lines, run, folder, again: again(folder, run) };
    },
  },
  {
    fault: 'a run that is deleted while it is written',
    injected: 'the folder is removed after the first call',
    sees: /was deleted/,
    kept: replayed,
    inject: () => {
      let isGone = false;
      const folder = domain(['wait', 'wait'], { 'tools.ts': gated });
      return play(folder, {
        order: 'spared first',
        onEvent: (type, run) => {
          if (type !== 'toolReturned' || isGone) return;
          isGone = true;
          rmSync(run, { recursive: true, force: true });
          go(folder);
        },
      });
    },
  },
];
