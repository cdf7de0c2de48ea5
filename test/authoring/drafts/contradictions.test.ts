import { expect, it } from 'vitest';
import { siftByWords } from '../../../src/authoring/drafts/contradictions.ts';
import { sourceData } from '../../../src/authoring/drafts/sourceData.ts';
import { variantsOf } from '../../../src/authoring/drafts/variants.ts';
import { load } from '../../engine/shell/load/domainFolder.ts';

const booking = (goal: string, known = 'patient: P1') =>
  load({
    'domain.yaml': 'name: dentist\n',
    'policy.md': '# Dentist\n\n- Be kind. {#kind}\n',
    'personas/plain.persona.yaml': 'id: plain\ndescription: Someone.\n',
    'database.json': JSON.stringify({
      slots: {
        S1: { day: 'Monday', time: '09:00' },
        S2: { day: 'Monday', time: '10:30' },
        S3: { day: 'Tuesday', time: '09:00' },
      },
    }),
    'tasks/book.task.yaml': `id: book
persona: plain
user: { goal: '${goal}', known: { ${known} } }
actions: [{ tool: book, arguments: { slot: S1 } }]
`,
  });

function sifted(loaded: ReturnType<typeof load>) {
  const [placed] = loaded.parts.tasks;
  if (!placed) throw new Error('the task is not read');
  const drawn = variantsOf(loaded, placed.value, sourceData(placed), '1');
  if (typeof drawn === 'string') throw new Error(drawn);
  const { sound, refused } = siftByWords(loaded, placed.value, drawn);
  return {
    sound: sound.map(({ id }) => id),
    refused: Object.fromEntries(refused.map(({ candidate, why }) => [candidate.id, why])),
  };
}

it('leaves out a variant whose user describes the row of the original', () => {
  expect(sifted(booking('Book me in at 9.'))).toEqual({
    sound: [],
    refused: {
      'book-S2':
        "the user's words still name the time 09:00 of S1 in slots, but the gold actions are about S2, whose time is 10:30",
      'book-S3':
        'its user says the same as the user of book, but its gold actions are different, so nothing tells which are right',
    },
  });
  expect(sifted(booking('Book me in on Monday.')).refused['book-S3']).toContain('still name the day Monday of S1');
});

it('keeps a variant whose user names its own row', () => {
  expect(sifted(booking('Book me in.', 'slot: S1'))).toEqual({
    sound: expect.arrayContaining(['book-S2', 'book-S3']),
    refused: {},
  });
});
