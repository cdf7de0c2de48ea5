import { expect, test } from 'vitest';
import type { VerdictLine } from '../../../src/webview/models/trajectory.ts';
import { distinctVerdicts, restText } from '../../../src/webview/models/verdicts.ts';

const rule = (name: string, verdict: VerdictLine['verdict'], detail = 'a reason'): VerdictLine => ({
  ...{ name, rule: name, verdict, detail, evidence: [] },
});

test('a rule with several checks counts once, with its worst verdict', () => {
  const checks = [rule('own-data', 'held'), rule('own-data', 'held'), rule('tone', 'held'), rule('tone', 'unknown')];
  expect(restText(checks)).toBe('Rules: 1 held, 1 unknown');
  expect(restText([...checks, rule('own-data', 'violated')])).toBe('Rules: 1 unknown');
});

test('a verifier is not counted among the rules', () => {
  const { rule: _, ...verifier } = rule('database', 'held');
  expect(restText([verifier])).toBe('Verdict: held');
});

test('checks of a rule with the same verdict and reason are one line', () => {
  const checks = [rule('own-data', 'held'), rule('own-data', 'held'), rule('own-data', 'held', 'another reason')];
  expect(distinctVerdicts(checks).map(({ detail }) => detail)).toEqual(['a reason', 'another reason']);
});
