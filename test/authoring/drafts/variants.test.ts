import { expect, test } from 'vitest';
import { sourceData } from '../../../src/authoring/drafts/sourceData.ts';
import { variantsOf } from '../../../src/authoring/drafts/variants.ts';
import { load } from '../../engine/shell/load/domainFolder.ts';

test('a number of one row may be a text of another', () => {
  const loaded = load({
    'domain.yaml': 'name: post\n',
    'policy.md': '# Post\n\n- Be kind. {#kind}\n',
    'personas/plain.persona.yaml': 'id: plain\ndescription: Someone.\n',
    'database.json': JSON.stringify({
      parcels: { P100: { code: 90210, isLate: true }, P200: { code: 'SW1A', isLate: true }, P300: { code: 10115 } },
    }),
    'tasks/code.task.yaml': `id: code
persona: plain
user: { goal: 'Where is parcel P100 with the code 90210?', known: { parcel: P100, code: 90210 } }
`,
  });
  const [placed] = loaded.parts.tasks;
  if (!placed) throw new Error('the task is not read');
  const made = variantsOf(loaded, placed.value, sourceData(placed), '1');
  expect(made).toHaveLength(2);
  expect(made).toContainEqual(
    expect.objectContaining({ user: expect.objectContaining({ known: { parcel: 'P200', code: 'SW1A' } }) }),
  );
  expect(made).toContainEqual(
    expect.objectContaining({ user: expect.objectContaining({ known: { parcel: 'P300', code: 10115 } }) }),
  );
});
