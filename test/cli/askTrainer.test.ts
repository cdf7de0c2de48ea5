import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findPython } from '../../scripts/pythonTests.ts';
import { askTrainer } from '../../src/cli/python/askTrainer.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { until } from '../support/until.ts';

const scratch = temporaryFolder('rehearsal-ask');
let asked = 0;

describe.skipIf(process.platform === 'win32')('the trainer is asked', () => {
  const ask = (script: string, signal = new AbortController().signal) => {
    const python = join(scratch, `python-${++asked}`);
    writeFileSync(python, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return askTrainer({ signal }, [python], ['explain'], { input: 'input', refused: (words) => new Error(words) });
  };

  test('and its last line is the answer', async () => {
    expect(await ask('echo converting; echo "$(cat) of $*"')).toBe('input of -P -m rehearsal_trainer explain');
  });

  test('and its last words are the error, also where it has not read its input', async () => {
    await expect(ask('echo warning >&2; echo "error: no such model" >&2; exit 1')).rejects.toThrow(/^no such model$/);
  });

  test('and is left where the person has cancelled', async () => {
    const [started, person] = [join(scratch, 'started'), new AbortController()];
    const asking = ask(`touch ${started}; exec sleep 3600`, person.signal);
    await until('the start of the trainer', () => existsSync(started));
    person.abort();
    await expect(asking).rejects.toThrow(/^cancelled$/);
  });

  test.runIf(findPython())('and its modules do not come from the working folder', async () => {
    const folder = temporaryFolder('clone');
    for (const name of ['rehearsal_trainer', 'json', 'argparse'])
      writeFileSync(join(folder, `${name}.py`), "open('started', 'w')\n");
    const before = process.cwd();
    process.chdir(folder);
    try {
      const asking = askTrainer({ signal: new AbortController().signal }, [findPython() ?? ''], ['explain'], {
        refused: (words) => new Error(words),
      });
      expect(await asking).toBe('}');
    } finally {
      process.chdir(before);
    }
    expect(existsSync(join(folder, 'started'))).toBe(false);
  });

  test('a program that is not Python is reported', async () => {
    await expect(ask('', AbortSignal.abort())).rejects.toThrow(/cancelled/);
    const none = { refused: (words: string) => new Error(words) };
    const nobody = askTrainer({ signal: new AbortController().signal }, [join(scratch, 'none')], [], none);
    await expect(nobody).rejects.toThrow(/ENOENT/);
  });
});
