import { expect, it } from 'vitest';
import { type Files, folderOf } from '../load/domainFolder.ts';
import { auditedBy, auditOnce, checkWithKnownTools } from './findings.ts';
import { added, changed, lendingDesk } from './lendingDesk.ts';

const lexicon = (sentence: string) =>
  added(
    'domain.yaml',
    `lexicon: { tools: { renew_loan: { done: ["${sentence}"], propose: ["Shall I renew {loan} until {day}?"] } } }\n`,
  );

/** The desk whose renewals return an object that the code does not show. */
const returning = (fields: string) =>
  changed(
    'tools.ts',
    "return 'ok';\n  },\n});\n\nexport const return_loan",
    `return JSON.parse('${fields}') as object;\n  },\n});\n\nexport const return_loan`,
  )['tools.ts'] ?? null;

it('a sentence that quotes a field which no result has is reported', async () => {
  const audited = auditOnce(checkWithKnownTools());
  const withFields = (fields: string, sentence: string) =>
    audited(folderOf({ ...lexicon(sentence), 'tools.ts': returning(fields) }));
  expect(await withFields('{"until":"Friday"}', 'Renewed until {result.day}.')).toEqual([
    'domain.yaml:3 domain/unknown-field No result of renew_loan in the gold rollouts has day, so the gold seat never says this sentence.',
  ]);
  expect(await withFields('{"day":"Friday"}', 'Renewed until {result.day}.')).toEqual([]);
  expect(await audited(folderOf(lexicon('Renewed until {result.day}.')))).toEqual([
    'domain.yaml:3 domain/unknown-field No tool returns a field day, according to the data and the code of the tools, so this sentence is never used.',
  ]);
});

it('a sentence that quotes a field which no result has beside an argument is reported', async () => {
  const audited = auditOnce(checkWithKnownTools());
  const tools = changed('tools.ts', '=> row(db.loans, loan),', '=> ({ loan, ...row(db.loans, loan) }),');
  const proposing = (sentence: string) => {
    const spoken = added('domain.yaml', `lexicon: { tools: { renew_loan: { propose: ["${sentence}"] } } }\n`);
    return audited(folderOf({ ...spoken, 'tools.ts': tools['tools.ts'] ?? null }));
  };
  expect(await proposing('Shall I renew {loan.back} until {day}?')).toEqual([
    'domain.yaml:3 domain/unknown-field No result in the gold rollouts has back next to loan, so the gold seat never says this sentence.',
  ]);
  expect(await proposing('Shall I renew {loan.title} until {day}?')).toEqual([]);
});

it('a proposal whose slot no gold rollout fills is reported, and what the gold seat has to say instead', async () => {
  const checked = checkWithKnownTools();
  const rules = changed('rules.yaml', 'names: [loan, day]', 'names: ["db.loans[args.loan].title", day]');
  const found = (files: Files) => auditedBy(checked, folderOf({ ...files, 'rules.yaml': rules['rules.yaml'] ?? null }));
  const proposing = (sentence: string) =>
    added('domain.yaml', `lexicon: { tools: { renew_loan: { propose: ["${sentence}"] } } }\n`);
  const [unfilled, violated] = await found(proposing('Shall I renew {loan.title} until {day}?'));
  expect(unfilled).toMatchObject({ code: 'domain/unknown-field', line: 3 });
  expect(unfilled?.message).toContain('renew_loan in the gold rollouts has the value of loan in a field');
  expect(violated).toMatchObject({ code: 'task/gold-violates', line: 10 });
  expect(violated?.hint).toBe(
    'Correct lexicon.tools.renew_loan.propose in domain.yaml: a sentence that says {loan.title} and asks for a yes. Otherwise correct names: of the check.',
  );
  const [without] = await found(lendingDesk);
  expect(without?.hint).toMatch(/^Add lexicon\.tools\.renew_loan\.propose in domain\.yaml: .* \{loan\.title\} and/);
});
