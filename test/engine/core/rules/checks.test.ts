import { describe, expect, it } from 'vitest';
import type { Domain } from '../../../../src/engine/core/domain/domain.ts';
import { ruleSchema } from '../../../../src/engine/core/domain/rule.ts';
import { run } from '../../../../src/engine/shell/rollout/driver.ts';
import { domain as desk, type Line, played, setting, started, task } from '../../../support/desk.ts';
import { replay } from '../../../support/replay.ts';

const look: Line = { look: { chair: 'A1' } };
const ask = 'I will paint chair A1 red. Shall I go ahead?';
const paint: Line = { paint: { chair: 'A1', colour: 'red' } };
const user = ['Red please.', 'Yes.'];

async function verdictsOf(check: Record<string, unknown>, agent: readonly Line[], said = user) {
  const domain: Domain = { ...desk, rules: [ruleSchema.parse({ rule: 'look-first', ...check })] };
  const of = { ...setting, domain };
  const steps = await Array.fromAsync(run({ setting: of, task, ports: played(agent, said) }, started()));
  const events = steps.map(({ event }) => event);
  expect(replay(of, events).ruleVerdicts).toEqual(steps.at(-1)?.state.ruleVerdicts);
  return (steps.at(-1)?.state.ruleVerdicts ?? []).map(({ verdict }) => verdict).join(' ');
}

const good = [look, ask, paint, 'Done, let it dry.'];
const cases: readonly (readonly [string, Record<string, unknown>, readonly Line[], string])[] = [
  ['before', { check: 'before', tools: 'writes', require: ['look'] }, good, 'held'],
  ['before: too late', { check: 'before', tools: 'writes', require: ['look'] }, [ask, paint, look], 'violated'],
  [
    'before: all tools but the required',
    { check: 'before', tools: 'all', require: ['look'] },
    [look, look, paint],
    'held',
  ],
  ['before: the same thing', { check: 'before', tools: 'all', require: ['look'], same: ['chair'] }, good, 'held'],
  [
    'before: another thing',
    { check: 'before', tools: ['paint'], require: ['look'], same: ['chair'] },
    [{ look: { chair: 'B2' } }, paint],
    'violated',
  ],
  [
    'before: not here',
    { check: 'before', tools: ['paint'], require: ['look'], when: 'args.chair == "B2"' },
    [paint],
    '',
  ],
  [
    'before: an untellable when',
    { check: 'before', tools: ['paint'], require: ['look'], when: 'nothing' },
    [paint],
    'unknown',
  ],
  ['confirmed', { check: 'confirmed', names: ['chair', 'colour'] }, good, 'held'],
  ['confirmed: unasked', { check: 'confirmed' }, [look, paint], 'violated'],
  ['oneCall', { check: 'oneCall' }, [look, look], 'held held'],
  [
    'oneCall: two, told once',
    { check: 'oneCall' },
    [{ look: { chair: 'A1' }, paint: { chair: 'A1', colour: 'red' } }],
    'violated',
  ],
  [
    'onlyIf',
    { check: 'onlyIf', tools: 'writes', condition: 'db.chairs[args.chair].coats < 1' },
    [paint, paint],
    'held violated',
  ],
  ['onlyIf: untellable', { check: 'onlyIf', tools: 'writes', condition: 'args.colour < 3' }, [paint], 'unknown'],
  ['never: no call', { check: 'never', tools: ['paint'] }, [look], 'held'],
  ['never: a call', { check: 'never', tools: ['paint'], when: 'args.colour == "red"' }, [paint], 'violated'],
  ['never: a phrase', { check: 'never', says: ['for free', 'no charge'] }, ["That's no charge!", 'Hm.'], 'violated'],
  [
    'never: an utterance',
    { check: 'never', when: 'any(amounts(message), it > 10)' },
    ['It is $9.', 'It is $12.'],
    'violated',
  ],
  ['mustSay after', { check: 'mustSay', says: 'let it dry', after: ['paint'] }, good, 'held'],
  [
    'mustSay after: too early',
    { check: 'mustSay', says: 'let it dry', after: ['paint'] },
    ['Let it dry.', paint],
    'violated',
  ],
  ['mustSay after: nothing happened', { check: 'mustSay', says: 'let it dry', after: ['paint'] }, [look], ''],
  ['mustSay before', { check: 'mustSay', says: 'chair ... red', before: ['paint'] }, good, 'held'],
  ['mustSay before: never', { check: 'mustSay', says: 'mind the floor', before: ['paint'] }, good, 'violated'],
  ['mustSay at all', { check: 'mustSay', says: ['hello', 'done'] }, good, 'held'],
  ['handOff only when', { check: 'handOff', onlyWhen: 'count(calls) > 0' }, [{ leave: {} }], 'violated'],
  ['handOff always', { check: 'handOff', always: 'any(calls, it.failed)' }, [{ fly: {} }, 'Sorry.'], 'violated'],
  ['handOff always: done', { check: 'handOff', always: 'any(calls, it.failed)' }, [{ fly: {} }, { leave: {} }], 'held'],
  ['judge without one', { check: 'judge', question: 'Well?' }, good, 'unknown'],
];

describe('a check', () => {
  it.each(cases)('%s', async (_, check, agent, verdicts) => expect(await verdictsOf(check, agent)).toBe(verdicts));
});
