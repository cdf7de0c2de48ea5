import { expect, it } from 'vitest';
import { noFilter } from '../../../src/webview/models/filter.ts';
import { readChoices } from '../../../src/webview/trajectory/choices.ts';

const kept = { filter: { ...noFilter, tool: 'cancel' }, current: 7, open: [7, 9] };

it('what was chosen comes back', () => {
  expect(readChoices(structuredClone(kept))).toEqual(kept);
});

it.each([undefined, null, 'text', {}, { ...kept, filter: { tool: 'cancel' } }, { ...kept, current: 'seven' }])(
  '%o chooses nothing',
  (state) => {
    expect(readChoices(state)).toEqual({ filter: noFilter, current: null, open: [] });
  },
);
