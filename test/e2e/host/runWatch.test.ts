import { strict as assert } from 'node:assert';
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runsIn } from '../../../src/extension/runs/runPlaces.ts';
import { RunWatch } from '../../../src/extension/runs/runWatch.ts';
import { orderDesk } from './desk.ts';

const run = join(runsIn(orderDesk()), 'watched');

/** Writes to the ledger until it is told of; false where nobody tells within the time. */
async function isTold(heard: () => boolean): Promise<boolean> {
  for (let round = 0; round < 40 && !heard(); round += 1) {
    appendFileSync(join(run, 'ledger.jsonl'), '{}\n');
    await setTimeout(250);
  }
  return heard();
}

describe('what watches runs', () => {
  const watch = new RunWatch();
  after(() => {
    watch.dispose();
    rmSync(run, { recursive: true, force: true });
  });

  it('tells who listens, each until it leaves, and begins anew for the next one', async () => {
    mkdirSync(run, { recursive: true });
    const heard = { first: 0, second: 0 };
    const first = watch.onDidChange(() => {
      heard.first += 1;
    });
    const second = watch.onDidChange(() => {
      heard.second += 1;
    });
    assert.ok(await isTold(() => heard.first > 0 && heard.second > 0));
    first.dispose();
    first.dispose();
    const before = { ...heard };
    assert.ok(await isTold(() => heard.second > before.second), 'one who left twice counts once');
    assert.equal(heard.first, before.first);
    second.dispose();
    let again = 0;
    const last = watch.onDidChange(() => {
      again += 1;
    });
    assert.ok(await isTold(() => again > 0));
    last.dispose();
  });
});
