import { expect, test } from 'vitest';
import { ValueIndex, withoutAccents, wordsIn } from '../../../src/authoring/masking/text/valueIndex.ts';
import { randomStream } from '../../../src/engine/core/values/random.ts';
import { runs } from '../../support/runs.ts';

const seed = process.env['REHEARSAL_SEED'] ?? '1';

test('a text of ASCII has the values that it has beside other signs', () => {
  const random = randomStream('valueIndex', seed);
  const piece = () => random.pick(['anna', 'Anna', 'berg', 'annab', '12', '+44', '7', 'a', '@', '.', ' ', ' ', '-']);
  const text = (most: number) => Array.from({ length: 1 + random.integer(most) }, piece).join('');
  for (let run = 0; run < runs(300); run++) {
    const index = new ValueIndex<string>(withoutAccents);
    for (let count = 0; count < 6; count++) {
      const value = text(5);
      index.set(value, value.toLowerCase());
    }
    const searched = text(20);
    const beside = `${searched}\né`;
    const wholeAt = (all: string) =>
      wordsIn(searched).flatMap(({ word, index: at }) =>
        index.at(all, word, at).filter(({ end }) => end === at + word.length || !/^\w\w/.test(all.slice(end - 1))),
      );
    expect(index.spansIn(searched), `seed ${seed}: ${searched}`).toEqual(index.spansIn(beside));
    expect(wholeAt(searched), `seed ${seed}: ${searched}`).toEqual(wholeAt(beside));
  }
});
