import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tailLines } from '../../../../src/engine/shell/files/lineTail.ts';
import { runFolder } from '../../../extension/training/runFolder.ts';

describe('tailLines', () => {
  it('gives each line once, and waits for the rest of a torn one', async () => {
    const folder = runFolder();
    const tail = tailLines(join(folder.path, 'a.jsonl'));
    expect(await tail.read()).toEqual({ lines: [], reset: false });
    folder.append('a.jsonl', 'one\ntw');
    expect(await tail.read()).toEqual({ lines: [{ number: 1, text: 'one' }], reset: false });
    folder.append('a.jsonl', 'o\nthree\n');
    expect((await tail.read()).lines).toEqual([
      { number: 2, text: 'two' },
      { number: 3, text: 'three' },
    ]);
    expect((await tail.read()).lines).toEqual([]);
  });

  it('keeps a character whole whose bytes come in two writes', async () => {
    const folder = runFolder();
    const tail = tailLines(join(folder.path, 'a.jsonl'));
    const bytes = Buffer.from('é\n');
    folder.append('a.jsonl', bytes.subarray(0, 1) as unknown as string);
    expect((await tail.read()).lines).toEqual([]);
    folder.append('a.jsonl', bytes.subarray(1) as unknown as string);
    expect((await tail.read()).lines).toEqual([{ number: 1, text: 'é' }]);
  });

  it('reads a file from its start that became shorter', async () => {
    const folder = runFolder();
    const tail = tailLines(join(folder.path, 'a.jsonl'));
    folder.write('a.jsonl', 'one\ntwo\n');
    await tail.read();
    folder.write('a.jsonl', 'new\n');
    expect(await tail.read()).toEqual({ lines: [{ number: 1, text: 'new' }], reset: true });
  });

  it('reads lines that are longer than one read', async () => {
    const folder = runFolder();
    const long = 'x'.repeat(600_000);
    folder.write('a.jsonl', `${long}\nshort\n`);
    const { lines } = await tailLines(join(folder.path, 'a.jsonl')).read();
    expect(lines.map(({ text }) => text.length)).toEqual([600_000, 5]);
  });
});
