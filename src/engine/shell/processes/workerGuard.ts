import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * A worker in an endless loop does not notice that its parent was killed, and its own threads may not watch for it:
 * workers are among the permissions that it lacks. So a small shell holds the list of workers. Its input ends with
 * this process, however that ended, and what is on the list then is killed. Windows ends children by itself.
 */
const script = `workers=' '
while read -r sign pid; do
  case $sign in
    +) workers="$workers$pid " ;;
    -) workers="\${workers%% $pid *} \${workers#* $pid }" ;;
  esac
done
for pid in $workers; do kill -KILL "$pid"; done 2>/dev/null`;

let shell: ChildProcess | null = null;

/** From now on the process, or the group of a negative number, ends when this one does. Gives what to call when it has ended on its own. */
export function guardWorker(pid: number | undefined): () => void {
  if (pid === undefined || process.platform === 'win32') return () => undefined;
  shell ??= startShell();
  const guarding = shell;
  guarding.stdin?.write(`+ ${pid}\n`);
  return () => {
    guarding.stdin?.write(`- ${pid}\n`);
  };
}

/** In its own session, so that Ctrl+C in a terminal does not reach it; this process does not wait for it. */
function startShell(): ChildProcess {
  const started = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], env: {}, detached: true });
  const forget = () => {
    if (shell === started) shell = null;
  };
  started.on('error', forget);
  started.on('exit', forget);
  started.stdin?.on('error', forget);
  started.unref();
  (started.stdin as Socket | null)?.unref();
  return started;
}
