import { spawn } from 'node:child_process';
import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Watchdog } from '../../../../src/engine/shell/workers/watchdog.ts';
import { MarkWriter } from '../../../../src/engine/shell/workers/workerMarker.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

test.runIf(process.platform === 'linux')(
  'a silent worker without processor time on a busy machine has up to a minute to answer',
  () => {
    const folder = temporaryFolder('watchdog');
    const marker = openSync(join(folder, 'mark'), 'w+');
    new MarkWriter(marker).beat();
    const idle = spawn('sleep', ['1000']);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const onHung = vi.fn();
    const watchdog = new Watchdog(marker, () => idle.pid, onHung, vi.fn());
    try {
      vi.advanceTimersByTime(Watchdog.longestSilenceMs - 1000);
      expect(onHung).not.toHaveBeenCalled();
      vi.advanceTimersByTime(2000);
      expect(onHung).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
      watchdog.stop();
      idle.kill();
      closeSync(marker);
      rmSync(folder, { recursive: true });
    }
  },
);
