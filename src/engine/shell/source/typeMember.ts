import { blanked } from './scan.ts';

/** From an offset of a text up to another. */
type Span = { readonly from: number; readonly to: number };

/**
 * Returns where the types of a module of tools declare a field of a database: in `defineTools<{ agent: Desk }>`,
 * followed through the types of that module. Null where they do not say it, or say it in a way that is not followed.
 * @param steps from the side of the database to the field; `*` means any row or element
 */
export function memberOf(text: string, side: 'agent' | 'user', steps: readonly string[]): Span | null {
  const code = blanked(text);
  const start = /\bdefineTools\s*</.exec(code);
  return start ? memberIn(code, start.index + start[0].length, [side, ...steps], new Set()) : null;
}

/** The member at the end of some steps into the type that begins at an offset. */
function memberIn(
  code: string,
  from: number,
  steps: readonly string[],
  seen: ReadonlySet<string>,
  end = code.length,
): Span | null {
  const { from: at, to } = typeAt(code, from, end);
  const type = code.slice(at, to);
  const parts = ['|', '&'].map((sign) => splitAt(code, at, to, sign)).find(({ length }) => length > 1);
  if (parts) return firstOf(parts, (part) => memberIn(code, part.from, steps, seen, part.to));
  const [step, ...rest] = steps;
  const list = /\[\s*\]$/.exec(type);
  if (list) return step === '*' ? memberIn(code, at, rest, seen, at + list.index) : null;
  if (type.startsWith('{')) return inObject(code, at, to, steps, seen);
  const generic = /^(Record|Readonly|Partial|Required|Array|ReadonlyArray|Map)\s*</.exec(type);
  if (generic) {
    const inputs = splitAt(code, at + generic[0].length, to - 1, ',');
    const last = inputs.at(-1) ?? { from: at, to };
    const isSame = /^(?:Readonly|Partial|Required)$/.test(generic[1] ?? '');
    return memberIn(code, last.from, isSame ? steps : rest, seen, last.to);
  }
  const name = /^(?:readonly\s+)?([A-Za-z_$][\w$]*)$/.exec(type)?.[1];
  if (name === undefined || seen.has(`${name} ${steps.length}`)) return null;
  const declared = new RegExp(
    String.raw`\b(?:type\s+${escaped(name)}\s*=\s*|interface\s+${escaped(name)}\b[^{]*(?=\{))`,
  ).exec(code);
  const inner = new Set([...seen, `${name} ${steps.length}`]);
  return declared ? memberIn(code, declared.index + declared[0].length, steps, inner) : null;
}

function inObject(code: string, from: number, to: number, steps: readonly string[], seen: ReadonlySet<string>) {
  const [step = '', ...rest] = steps;
  return firstOf(splitAt(code, from + 1, to - 1, ';'), ({ from: start }): Span | null => {
    const member = /^\s*(?:readonly\s+)?(?:\[[^\]]*\]|(["']?)([\w$]+)\1)\s*\??\s*:/.exec(code.slice(start, to));
    if (!member) return null;
    const name = member[2];
    if (name === undefined ? step !== '*' : name !== step) return null;
    if (rest.length > 0) return memberIn(code, start + member[0].length, rest, seen);
    const at = start + member[0].lastIndexOf(name ?? '');
    return name === undefined ? null : { from: at, to: at + name.length };
  });
}

/** From the first sign of the type that begins at an offset to behind its last. */
function typeAt(code: string, from: number, end: number): Span {
  const at = from + (/^(?:\s|\||&)*/.exec(code.slice(from, end))?.[0].length ?? 0);
  let depth = 0;
  let to = at;
  for (; to < end; to++) {
    const sign = code[to] ?? '';
    if (opens.includes(sign)) depth += 1;
    else if (closes.includes(sign) && code[to - 1] !== '=') depth -= 1;
    if (depth < 0 || (depth === 0 && /[;,=]/.test(sign))) break;
    const goesOn = /^\s*[|&[]/.test(code.slice(to, end)) || /[|&]\s*$/.test(code.slice(at, to));
    if (sign === '\n' && depth === 0 && !goesOn) break;
  }
  return { from: at, to: at + code.slice(at, to).trimEnd().length };
}

const opens = '{[(<';
const closes = '}])>';

/** The parts of a text that a sign separates, what is in brackets apart; lines and commas end the members of a type, too. */
function splitAt(code: string, from: number, to: number, sign: string): readonly Span[] {
  const starts = [from];
  let depth = 0;
  for (let at = from; at < to; at++) {
    const each = code[at] ?? '';
    if (opens.includes(each)) depth += 1;
    else if (closes.includes(each)) depth -= 1;
    else if (depth === 0 && (each === sign || (sign === ';' && /[,\n]/.test(each)))) starts.push(at + 1);
  }
  return starts.map((start, nth) => ({ from: start, to: (starts[nth + 1] ?? to + 1) - 1 }));
}

function firstOf(parts: readonly Span[], found: (part: Span) => Span | null): Span | null {
  for (const part of parts) {
    const made = found(part);
    if (made !== null) return made;
  }
  return null;
}

const escaped = (name: string) => name.replaceAll('$', '\\$');
