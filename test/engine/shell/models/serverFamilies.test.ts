import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inRoot } from '../../../../scripts/repository.ts';
import { askAgentModel } from '../../../../src/engine/shell/models/openai.ts';
import { endpoint } from '../../../support/endpoint.ts';
import { markdownTable, withGenerated } from '../../../support/markdownTable.ts';
import { modelView } from '../../../support/modelView.ts';
import { behaviours, families } from './serverFamilies.ts';

const shapes = families.flatMap(({ name, shapes: sent }) => sent.map((shape) => ({ name, ...shape })));

test.each(shapes)('$name: $behaviour ($sends)', async ({ status = 200, body, reply, failure }) => {
  // The endpoint asks the client not to retry, so that no test waits.
  const baseUrl = await endpoint(() => ({ status, body }));
  const seat = { type: 'openai' as const, model: 'm', baseUrl, keyName: null, rateLimitMs: 1 };
  const asked = askAgentModel(seat, '', modelView(), new AbortController().signal);
  if (failure)
    await expect(asked).rejects.toMatchObject({
      failure: { who: failure.who, message: expect.stringMatching(failure.words) },
    });
  else expect((await asked).reply).toMatchObject(reply ?? {});
});

test('the table in docs/live-paths.md has every family', async () => {
  const page = inRoot('docs', 'live-paths.md');
  const table = markdownTable([
    ['server', ...behaviours],
    ...families.map(({ name, shapes: sent }) => [
      name,
      ...behaviours.map((behaviour) => sent.find((shape) => shape.behaviour === behaviour)?.sends ?? ''),
    ]),
  ]);
  await expect(withGenerated(readFileSync(page, 'utf8'), 'families', table)).toMatchFileSnapshot(page);
});
