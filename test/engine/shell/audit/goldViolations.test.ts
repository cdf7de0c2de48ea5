import { expect, it } from 'vitest';
import { folderOf } from '../load/domainFolder.ts';
import { auditOnce, checkWithKnownTools } from './findings.ts';
import { added } from './lendingDesk.ts';

it('reports one violation of a check whose misspelt field explains all of them', async () => {
  const check = (field: string) =>
    folderOf(
      added(
        'rules.yaml',
        `- { rule: look-up, check: onlyIf, tools: [renew_loan, return_loan], condition: 'last("find_loan").${field}' }\n`,
      ),
    );
  const audited = auditOnce(checkWithKnownTools());
  expect(await audited(check('titel != null'))).toEqual([
    'rules.yaml:4 rule/unknown-field The result of find_loan has no field titel.',
    expect.stringMatching(/^tasks\/loans\.task\.yaml:10 task\/gold-violates .* rule look-up: /),
  ]);
  expect(await audited(check('title == null'))).toEqual([
    expect.stringMatching(/^tasks\/loans\.task\.yaml:10 task\/gold-violates /),
    expect.stringMatching(/^tasks\/loans\.task\.yaml:20 task\/gold-violates /),
  ]);
});
