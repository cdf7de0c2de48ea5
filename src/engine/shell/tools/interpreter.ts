import { execFile } from 'node:child_process';
import { isAbsolute } from 'node:path';

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
export type Asked = Interpreter | { readonly problem: string } | null;

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
 * Asks an interpreter for its program and its folders. It runs outside of any sandbox and runs nothing of the domain.
 * @param folder where it is asked: launchers such as pyenv choose by the folder
 */
export function askInterpreter(command: string, folder: string, environment: NodeJS.ProcessEnv): Promise<Asked> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: environment, timeout: limitMs, windowsHide: true };
    const child = execFile(command, ['-u', '-B', '-c', question], options, (error, stdout, stderr) => {
      const [program = '', userBase = '', ...readable] = stdout.split('\n');
      if (!error && isAbsolute(program)) resolve({ program, readable, userBase: userBase === '' ? null : userBase });
      else if (error && typeof error.code === 'string') resolve(null);
      else if (error) {
        const words = stderr.trim().split('\n').at(-1) ?? '';
        const how = error.signal ? `signal ${error.signal}` : `exit code ${error.code}`;
        resolve({ problem: `it ended with ${how}${words === '' ? '' : `: ${words}`}` });
      } else resolve({ problem: stdout === '' ? 'it ended with exit code 0' : `it says ${program.slice(0, 80)}` });
    });
    child.stdin?.end();
  });
}
