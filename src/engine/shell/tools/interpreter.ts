import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isWithin } from '../files/boundedFile.ts';
import { neutralFolder } from '../processes/machineProgram.ts';
import { programPath } from '../processes/sandbox.ts';
import { signingKeyPath } from '../records/ledger.ts';

/** An interpreter's report about itself. */
export type Interpreter = {
  /** Absolute path of the program, also where a launcher chose it. */
  readonly program: string;
  /** Folders and files that it imports from: its prefixes and its search path. */
  readonly readable: readonly string[];
  /** The folder of this user's packages, if the interpreter looks there. */
  readonly userBase: string | null;
};

/** An interpreter; why a program is not one; or null where there is no such program. */
export type InterpreterAnswer = Interpreter | { readonly problem: string } | null;

const limitMs = 60_000;

/** In the syntax of every Python. The current folder, which is the domain's, is not a place of modules. */
const question = `import sys
sys.path[:] = [each for each in sys.path if each]
import os
site = sys.modules.get("site")
base = site.getuserbase() if site and site.ENABLE_USER_SITE else ""
paths = [sys.prefix, sys.exec_prefix, getattr(sys, "base_prefix", sys.prefix)] + sys.path
sys.stdout.write("\\n".join([sys.executable, base] + [each for each in paths if os.path.exists(each)]))`;

/**
 * Asks an interpreter for its program and its folders. It runs outside of any sandbox, so no file of the domain chooses
 * it: it starts in a folder that no domain controls.
 * @param folder what a path is relative to
 */
export function askInterpreter(
  command: string,
  folder: string,
  environment: NodeJS.ProcessEnv,
): Promise<InterpreterAnswer> {
  const program = programOf(command, folder, environment);
  if (program === null) return Promise.resolve(null);
  return new Promise((resolve) => {
    const options = { cwd: neutralFolder, env: environment, timeout: limitMs, windowsHide: true };
    const child = execFile(program, ['-u', '-B', '-c', question], options, (error, stdout, stderr) => {
      const [program = '', userBase = '', ...paths] = stdout.split('\n');
      if (!error && isAbsolute(program)) {
        const readable = paths.flatMap(withoutHome).filter((path) => isAbsolute(path) && existsSync(path));
        resolve({ program, readable, userBase: userBase === '' ? null : userBase });
      } else if (error && typeof error.code === 'string') resolve(null);
      else if (error) {
        const words = stderr.trim().split('\n').at(-1) ?? '';
        const how = error.signal ? `signal ${error.signal}` : `exit code ${error.code}`;
        resolve({ problem: `it ended with ${how}${words === '' ? '' : `: ${words}`}` });
      } else resolve({ problem: stdout === '' ? 'it ended with exit code 0' : `it says ${program.slice(0, 80)}` });
    });
    child.stdin?.end();
  });
}

function programOf(command: string, folder: string, environment: NodeJS.ProcessEnv): string | null {
  if (/[\\/]/.test(command)) return resolve(folder, command);
  return process.platform === 'win32' ? command : programPath(command, environment['PATH']);
}

/** The parts of a prefix that an interpreter reads. */
const installed = ['bin', 'lib', 'lib64', 'pyvenv.cfg'];

/** Returns a path that a sandbox may read; only its installed parts where it holds a person's home or keys. */
function withoutHome(named: string): readonly string[] {
  if (!existsSync(named)) return [];
  const path = realpathSync(named);
  const keys = dirname(signingKeyPath(process.env));
  if (isIn(keys, path)) return [];
  return [...homes(), keys].some((each) => isIn(path, each)) ? installed.map((each) => join(path, each)) : [named];
}

const isIn = (folder: string, path: string) => folder === path || isWithin(folder, path);

/** Returns the home folder of the environment and that of the user account. */
function homes(): readonly string[] {
  try {
    return [homedir(), userInfo().homedir];
  } catch {
    // A container may run as a user without an account.
    return [homedir()];
  }
}
