import type { Task } from '../../core/domain/task.ts';
import type { Diagnostic, Edit } from '../files/diagnostic.ts';
import { type Placed, placeOf } from '../source/items.ts';
import type { Parts } from './loadedDomain.ts';

/**
 * The findings, without fixes of what an import wrote: whatever a benchmark says belongs to what it measures, so nothing
 * but a person changes it. Fixes in tasks that were added to such a domain stay.
 */
export function withoutFixesOfImports(found: readonly Diagnostic[], { tasks }: Parts): readonly Diagnostic[] {
  if (tasks.every(({ value }) => value.origin === undefined)) return found;
  const own = tasks.filter(({ value }) => value.origin === undefined);
  const isOwn = (edit: Edit) => own.some((placed) => isInside(edit, placed));
  return found.map((each) => {
    if (each.fix === undefined || each.fix.edits.every(isOwn)) return each;
    const { fix: _, ...rest } = each;
    return rest;
  });
}

function isInside({ file, line, endLine }: Edit, placed: Placed<Task>): boolean {
  const place = placeOf(placed);
  return file === place.file && line >= place.line && endLine <= place.endLine;
}
