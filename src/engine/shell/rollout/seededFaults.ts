import { renamed, type SeededFault } from '../../core/domain/seededFault.ts';
import { numberFormsOf, type ToolCall } from '../../core/events/message.ts';
import { type Json, type JsonObject, textOrJson } from '../../core/values/json.ts';
import { keysOfPointer, pointerKey } from '../../core/values/jsonPointer.ts';
import type { Attachments } from '../../core/values/media.ts';
import { failedOutcome } from './effectEvents.ts';
import type { ToolOutcome } from './ports.ts';

type Time = {
  /** Of the tool: a latency beyond it is not an answer. */
  readonly timeoutMs: number;
  readonly wait: (ms: number) => Promise<void>;
};

/** Makes a call as the seeded faults let it be made: late, not at all, or with something else than it is known for. */
export async function underFaults(
  faults: readonly SeededFault[],
  call: ToolCall,
  make: (call: ToolCall) => Promise<ToolOutcome> | ToolOutcome,
  { timeoutMs, wait }: Time,
): Promise<ToolOutcome> {
  let given = call;
  for (const fault of faults) {
    if (fault.type === 'latency') await wait(Math.min(fault.ms, timeoutMs));
    const changed = before(fault, given, timeoutMs);
    if ('content' in changed) return changed;
    given = changed;
  }
  return resultUnderFaults(faults, await make(given));
}

/** Returns the call as it reaches its tool under seeded faults, or its result without reaching it. */
export function callUnderFaults(
  faults: readonly SeededFault[],
  call: ToolCall,
  timeoutMs: number,
): ToolCall | ToolOutcome {
  let given = call;
  for (const fault of faults) {
    const changed = before(fault, given, timeoutMs);
    if ('content' in changed) return changed;
    given = changed;
  }
  return given;
}

/** Returns what seeded faults make of the result of a tool. */
export function resultUnderFaults<T extends Result>(faults: readonly SeededFault[], result: T): T {
  return faults.reduce<T>(after, result);
}

/** Returns the result that seeded faults put in place of whatever a tool returns; null where they put none. */
export function resultByFaults(faults: readonly SeededFault[]): string | null {
  if (!faults.some(({ type }) => type === 'undocumentedResult')) return null;
  return resultUnderFaults(faults, { content: '', isError: false }).content;
}

type Result = Attachments & Pick<ToolOutcome, 'content' | 'isError'>;

/** The call as it reaches the tool, or its result without reaching it. */
function before(fault: SeededFault, call: ToolCall, timeoutMs: number): ToolCall | ToolOutcome {
  switch (fault.type) {
    case 'latency':
      return fault.ms < timeoutMs
        ? call
        : failedOutcome(`${call.name} timed out: it did not answer within ${timeoutMs} ms`);
    case 'outage':
      return failedOutcome(fault.message ?? `${call.name} is not available at the moment; try again later`);
    case 'permissionDenied':
      return failedOutcome(fault.message ?? `permission denied: ${call.name} may not be called now`);
    case 'changedSchema':
      return withNewNames(call, fault.arguments);
    case 'undocumentedResult':
      return call;
  }
}

/** The old name of an argument is refused, as a service would do it; the new one is what the tool knows as the old. */
function withNewNames(call: ToolCall, names: Readonly<Record<string, string>>): ToolCall | ToolOutcome {
  if (typeof call.arguments === 'string') return call;
  const old = Object.keys(names).find((name) => Object.hasOwn(call.arguments as JsonObject, name));
  if (old !== undefined)
    return failedOutcome(
      `the arguments of ${call.name} do not fit: the argument ${old} is unknown; it is called ${names[old]} now`,
    );
  const back = Object.fromEntries(Object.entries(names).map(([from, to]) => [to, from]));
  const oldName = (name: string) => (Object.hasOwn(back, name) ? (back[name] as string) : name);
  const given = Object.entries(call.arguments).map(([name, value]) => [oldName(name), value] as const);
  const movePlace = (place: string) => {
    const [name = '', ...rest] = keysOfPointer(place);
    return [oldName(name), ...rest].map((key) => `/${pointerKey(key)}`).join('');
  };
  const forms = Object.entries(numberFormsOf(call)).map(([form, places]) => [form, places?.map(movePlace)]);
  return { ...call, arguments: Object.fromEntries(given), ...Object.fromEntries(forms) };
}

/** Removes the fields that no longer belong to a text that a fault replaces. */
const ofText = { textParts: undefined, structured: undefined };

function after<T extends Result>(outcome: T, fault: SeededFault): T {
  if (outcome.isError) return outcome;
  if (fault.type === 'undocumentedResult')
    return {
      ...outcome,
      ...ofText,
      media: undefined,
      resourceLines: undefined,
      content: textOrJson(fault.result as Json),
    };
  if (fault.type !== 'changedSchema' || Object.keys(fault.result).length === 0) return outcome;
  try {
    return { ...outcome, ...ofText, content: textOrJson(renamed(JSON.parse(outcome.content) as Json, fault.result)) };
  } catch {
    // A text has no keys.
    return outcome;
  }
}
