import { numberType, type ObjectType, type Type, textType } from '../../core/expression/type.ts';
import { blanked, type Scan } from '../source/scan.ts';
import { memberOf } from '../source/typeMember.ts';

/** Returns the type with the elements of lists that are empty in all rows as the code of the tools declares them. */
export function withDeclaredElements(type: Type, side: 'agent' | 'user', { sources }: Scan): Type {
  const code = sources.filter(({ file }) => file.endsWith('.ts')).map(({ text }) => text);
  const whole = blanked(code.join('\n'));
  return /\bdefineTools\s*</.test(whole) ? withElements(type, whole, side, []) : type;
}

function withElements(type: Type, code: string, side: 'agent' | 'user', place: readonly string[]): Type {
  const { object, list } = type;
  if (object) return { ...type, object: withFields(object, code, side, place) };
  if (!list?.any || list.object || list.list || list.text || place.length === 0) return type;
  const at = memberOf(code, side, place);
  const declared =
    at === null ? null : /^\s*\??\s*:\s*(?:(string|number)\[\]|Array<(string|number)>)/.exec(code.slice(at.to));
  const kind = declared?.[1] ?? declared?.[2];
  return kind === undefined ? type : { ...type, list: kind === 'string' ? textType : numberType };
}

function withFields(object: ObjectType, code: string, side: 'agent' | 'user', place: readonly string[]): ObjectType {
  const fields = [...object.fields].map(
    ([name, type]) => [name, withElements(type, code, side, [...place, name])] as const,
  );
  const { rows } = object;
  return {
    ...object,
    fields: new Map(fields),
    ...(rows ? { rows: { ...rows, row: withElements(rows.row, code, side, [...place, '*']) } } : {}),
  };
}
