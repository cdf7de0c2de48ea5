import { setTimeout } from 'node:timers/promises';
import { beforeAll, test } from 'vitest';

beforeAll(() => setTimeout(100));

test('passes', () => {});
