import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder of the rollouts that the task editor plays. It is removed when the extension ends. */
export const goldFolder = join(tmpdir(), `rehearsal-gold-${randomUUID()}`);
