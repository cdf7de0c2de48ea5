import type { Side } from '../../../engine/core/domain/tool.ts';
import { type Json, type Path, showPath } from '../../../engine/core/values/json.ts';
import { type Database, diffDatabases, getAt, keysAt } from '../../../engine/core/world/database.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import type { Edit } from '../rollout/edit.ts';
import { type Marks, unmarked } from './marks.ts';
import { pageSize, type Rows, rowsOf, type Variable } from './rows.ts';
import { changeText, edited, leaf, shortened, wholeOf } from './variables.ts';

const changeMark = (count: number) => (count === 0 ? '' : `   (${count} ${count === 1 ? 'change' : 'changes'})`);

/** Values of a database; what changed in this step is marked, and so is everything that holds it. */
export function databaseVariables(database: Database, side: Side, path: Path, marks: Marks): readonly Variable[] {
  const { keys } = keysAt(database, path);
  const gone = marks.goneFrom(path).map((key) => goneVariable(marks, [...path, key]));
  return [...keys.map((key) => databaseVariable(database, side, [...path, key], marks)), ...gone];
}

/** A value of the database at a step, as VARIABLES shows it. */
export function databaseValue({ state }: Step, side: Side, path: Path): Variable {
  return databaseVariable(state.world[side], side, path, unmarked);
}

/** Every value that a step changed, before and after. */
export function changed(before: Step, { state }: Step): readonly Variable[] {
  return (['agent', 'user'] as const).flatMap((side) =>
    diffDatabases(before.state.world[side], state.world[side]).map(({ path, before: old, after }) =>
      leaf(`${side === 'user' ? 'user: ' : ''}${showPath(path)}`, changeText(old, after)),
    ),
  );
}

function goneVariable(marks: Marks, path: Path): Variable {
  return leaf(String(path.at(-1)), `removed   (was ${shortened(marks.before(path))})`);
}

/** The rows of a wide table, and those that it lost. */
function tableRows(database: Database, side: Side, path: Path, marks: Marks): Rows {
  const { keys } = keysAt(database, path);
  const gone = marks.goneFrom(path);
  const isGone = new Set<string | number>(gone);
  const make = (key: string | number) =>
    isGone.has(key) ? goneVariable(marks, [...path, key]) : databaseVariable(database, side, [...path, key], marks);
  const all = [...keys, ...gone];
  const changedAt = marks
    .changedIn(path)
    .map((key) => ({ at: all.findIndex((each) => String(each) === key), count: marks.countAt([...path, key]) }));
  return {
    ...rowsOf(all, typeof keys[0] === 'number', make),
    mark: (start, total) =>
      changeMark(changedAt.reduce((sum, { at, count }) => sum + (at >= start && at < start + total ? count : 0), 0)),
  };
}

function databaseVariable(database: Database, side: Side, path: Path, marks: Marks): Variable {
  const name = String(path.at(-1));
  const row = { name, expression: expressionOf(side, path), place: { side, path } };
  const { total } = keysAt(database, path, { limit: 0 });
  if (total > pageSize) {
    const rows = () => tableRows(database, side, path, marks);
    return { ...row, value: `${total} rows${changeMark(marks.countAt(path))}`, rows };
  }
  const value = getAt(database, path);
  const old = marks.isMarked ? marks.before(path) : value;
  const edit = (to: Json): Edit => ({ type: 'database', side, path, value: to });
  if (typeof value === 'object' && value !== null) {
    return {
      ...row,
      value: `${shortened(value)}${old === undefined ? '   (added)' : changeMark(marks.countAt(path))}`,
      whole: wholeOf(name, value, edit),
      children: () => databaseVariables(database, side, path, marks),
    };
  }
  const mark = old === value ? '' : `   (was ${shortened(old)})`;
  return {
    ...row,
    value: `${JSON.stringify(value)}${mark}`,
    type: typeof value,
    edit: (text) => edited(name, text, value, edit),
    ...(typeof value === 'string' ? { whole: wholeOf(name, value, edit) } : {}),
  };
}

/** The path that a console, a watch or a hover reads a value by. */
export function expressionOf(side: Side, path: Path): string {
  const keys = path.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return [side === 'user' ? 'user' : 'db', ...keys].join('');
}
