import { strict as assert } from 'node:assert';
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runsIn } from '../../../src/engine/shell/files/workFolders.ts';
import { RunWatch } from '../../../src/extension/runs/runWatch.ts';
import { eventually, orderDesk } from './desk.ts';

const run = join(runsIn(orderDesk()), 'watched');

/** Writes to the ledger until the change is heard: VS Code does not report when its file watcher has started. */
const writeUntil = (isHeard: () => boolean) =>
  eventually(() => {
    appendFileSync(join(run, 'ledger.jsonl'), '{}\n');
    assert.ok(isHeard(), 'the change was not heard');
  });

describe('what watches runs', () => {
  const watch = new RunWatch();
  after(() => {
    watch.dispose();
    rmSync(run, { recursive: true, force: true });
  });

  it('notifies each listener until it is disposed, and restarts for the next one', async () => {
    mkdirSync(run, { recursive: true });
    const heard = { first: 0, second: 0 };
    const first = watch.onDidChange(() => {
      heard.first += 1;
    });
    const second = watch.onDidChange(() => {
      heard.second += 1;
    });
    await writeUntil(() => heard.first > 0 && heard.second > 0);
    first.dispose();
    first.dispose();
    const before = { ...heard };
    // A listener that is disposed twice counts once: the other one still listens.
    await writeUntil(() => heard.second > before.second);
    assert.equal(heard.first, before.first);
    second.dispose();
    let again = 0;
    const last = watch.onDidChange(() => {
      again += 1;
    });
    await writeUntil(() => again > 0);
    last.dispose();
  });
});
