import { join } from 'node:path';
import { type Diagnostic, startOf } from '../../engine/shell/files/diagnostic.ts';

/** Findings that are shown of one domain. VS Code shows as many of one file. */
export const shownFindings = 1000;

const order = ['error', 'warning', 'info'];

/** The findings that are shown: errors before warnings where there are too many, and how many are left out. */
export function mostImportant(found: readonly Diagnostic[], folder: string): readonly Diagnostic[] {
  if (found.length <= shownFindings) return found;
  const sorted = found.toSorted((one, other) => order.indexOf(one.severity) - order.indexOf(other.severity));
  const rest: Diagnostic = {
    ...startOf(join(folder, 'domain.yaml')),
    code: 'domain/more-findings',
    severity: 'info',
    message: `${found.length - shownFindings} more findings are not shown here.`,
    hint: 'Run `npx rehearsal check` to see all of them.',
  };
  return [...sorted.slice(0, shownFindings), rest];
}
