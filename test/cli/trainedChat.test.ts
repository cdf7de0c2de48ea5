import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { servedFor } from '../../src/cli/checkpoints/servedModel.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

describe.skipIf(process.platform === 'win32')('a checkpoint keeps the dialect and the thinking of its run', () => {
  const scratch = temporaryFolder('rehearsal-chat');
  const python = join(scratch, 'python');
  const asked = join(scratch, 'asked');
  const config = join(scratch, 'config');
  writeFileSync(
    python,
    `#!/bin/sh
case "$1" in *setup_environment.py) echo '{"python": "elsewhere", "ready": true, "node": "/in/node"}'; exit ;; esac
echo "$*" > "${asked}"
case "$*" in
  *' gateway '*) echo '{"base_url": "http://127.0.0.1:1/v1", "token": "t"}'; exec sleep 60 ;;
  *' export '*) echo '{"bytes": 1000000}' ;;
  *--check) cat > "${config}"; echo '{"disk": 0, "free": 1}' ;;
  *' preview '*) echo '{"pieces": []}' ;;
esac
`,
    { mode: 0o755 },
  );
  const run = (name: string, chat: object) => {
    const checkpoint = join(scratch, name, 'checkpoints', 'final');
    mkdirSync(checkpoint, { recursive: true });
    writeFileSync(join(scratch, name, 'config.json'), JSON.stringify({ kind: 'sft', ...chat }));
    return checkpoint;
  };
  const thinking = run('thinking', { dialect: 'template', thinking: true });
  const silent = run('silent', { dialect: 'compact', thinking: false });
  const exported = join(scratch, 'exported');
  mkdirSync(exported);

  const served = async (model: string) => {
    const io = { cwd: scratch, err: () => undefined, signal: new AbortController().signal };
    const gateway = await servedFor(`checkpoint:${model}`, 'auto', python, io);
    await gateway?.close();
    return / --dialect .*(?= --port)/.exec(readFileSync(asked, 'utf8'))?.[0];
  };
  const asking = async (...args: readonly string[]) => {
    const { code, out, err } = await rehearsal(...args, '--python', python);
    expect({ code, err }).toMatchObject({ code: 0 });
    return out;
  };

  test('where it plays rollouts or is debugged', async () => {
    expect(await served(thinking)).toBe(' --dialect template --thinking');
    expect(await served(silent)).toBe(' --dialect compact');
  });

  test('once it is exported', async () => {
    expect(await asking('export-model', thinking, '--out', exported)).toContain(
      '1.0 MB of weights, trained with thinking on',
    );
    expect(await served(exported)).toBe(' --dialect template --thinking');
  });

  test('where a recording is rendered for it', async () => {
    const recording = join(scratch, 'a.traj.jsonl');
    writeFileSync(recording, '');
    await asking('synth', 'preview', recording, '--model', thinking);
    expect(readFileSync(asked, 'utf8')).toMatch(/--dialect template --thinking$/m);
  });

  test('where it is evaluated or trained further, unless an option sets them', async () => {
    const configured = async (...args: readonly string[]) => {
      await asking('train', ...args, '--model', thinking, '--out', join(scratch, 'run'), '--plan');
      return JSON.parse(readFileSync(config, 'utf8'));
    };
    const kept = { dialect: 'template', thinking: true };
    expect(await configured('evaluate', 'domains/parcel-desk')).toMatchObject(kept);
    expect(await configured('grpo', 'domains/parcel-desk')).toMatchObject(kept);
    const off = await configured('evaluate', 'domains/parcel-desk', '--set', 'thinking=false');
    expect(off).toMatchObject({ thinking: false });
  });
});
