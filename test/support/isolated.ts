import { afterAll } from 'vitest';
import { removeFolders } from './temporary.ts';

// The worker of an isolated test file is killed, so it does not get to its `exit`.
afterAll(removeFolders);
