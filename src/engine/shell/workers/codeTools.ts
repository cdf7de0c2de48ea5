import type { CodeTool, ToolContext as DomainContext, Sync } from '../../authoring.ts';
import type { World } from '../../core/domain/domain.ts';
import type { Side } from '../../core/domain/tool.ts';
import type { Writes } from '../../core/events/event.ts';
import { createdId } from '../../core/values/createdIds.ts';
import type { JsonObject } from '../../core/values/json.ts';
import {
  type Database,
  type DatabaseDraft,
  draft,
  isHashed,
  readView,
  settled,
  tracedView,
} from '../../core/world/database.ts';
import { Fault } from '../files/fault.ts';
import { failedOutcome } from '../rollout/effectEvents.ts';
import type { ToolContext, ToolOutcome } from '../rollout/ports.ts';
import { deniedText, errorLocation } from './domainModules.ts';
import type { ReadObserver } from './readObserver.ts';

export type CodeCall = {
  readonly name: string;
  readonly tool: CodeTool;
  readonly arguments: JsonObject;
  readonly context: ToolContext;
  /** The domain's folder, to say where an exception came from. */
  readonly folder: string;
  /** Runs around the domain's own code, for the marker. */
  readonly guard: <T>(body: () => T) => T;
  readonly log: (text: string) => void;
  /** Notes what the call reads, if that was requested. */
  readonly observer?: ReadObserver | null;
};

/**
 * Performs one call of a code tool. A failed call leaves no trace; what it threw is the result that the caller sees,
 * and anything but a `ToolError` is also logged with its place.
 */
export function callCodeTool(call: CodeCall): ToolOutcome | Promise<ToolOutcome> {
  const parsed = call.tool.input.safeParse(call.arguments);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(
      ({ path, message }) => `${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`,
    );
    return failedOutcome(`the arguments of ${call.name} do not fit: ${issues.join('; ')}`);
  }
  const sides = openSides(call, readView, call.observer);
  try {
    const result = call.guard(() => call.tool.run(parsed.data, sides.context));
    if (!(result instanceof Promise)) return concluded(call, sides, result);
    return result
      .then((value) => concluded(call, sides, value))
      .catch((error: unknown) => refused(call, sides, parsed.data, error));
  } catch (error) {
    return refused(call, sides, parsed.data, error);
  }
}

type Sides = {
  readonly context: DomainContext;
  readonly open: { readonly side: Side; readonly draft: DatabaseDraft } | null;
};

/** A draft of the owner's side for a write tool, views of everything else. */
function openSides(
  { tool, context }: CodeCall,
  view: (db: Database) => JsonObject,
  observer?: ReadObserver | null,
): Sides {
  const owner = tool.owner ?? 'agent';
  const open = tool.effect === 'write' ? { side: owner, draft: draft(context.world[owner]) } : null;
  const viewOf = (side: keyof World) => {
    const seen = open?.side === side ? open.draft.view : view(context.world[side]);
    return observer ? observer.observed(side, seen) : seen;
  };
  return {
    open,
    context: {
      db: viewOf('agent'),
      userDb: viewOf('user'),
      now: context.now,
      random: context.random,
      id: (prefix) => createdId(context.random, prefix),
    },
  };
}

function concluded(call: CodeCall, { open }: Sides, result: unknown): ToolOutcome {
  if (!open) return { content: textOf(call.name, result), isError: false, writes: [] };
  const { patches } = open.draft.finish();
  const content = textOf(call.name, settledResult(call.name, result));
  const writes = patches.length > 0 ? [{ side: open.side, patches }] : [];
  return { content, isError: false, writes: writes as unknown as Writes };
}

function textOf(name: string, result: unknown): string {
  if (typeof result === 'string') return result;
  if (typeof result === 'object' && result !== null && isHashed(result)) return rowText(result);
  const text = result === undefined ? 'ok' : jsonText(name, result);
  if (text === undefined) throw new TypeError(`${name} returned a ${typeof result}, which cannot be converted to JSON`);
  return text;
}

function settledResult(name: string, result: unknown): unknown {
  try {
    return settled(result);
  } catch (error) {
    throw error instanceof RangeError ? circular(name) : error;
  }
}

function jsonText(name: string, result: unknown): string | undefined {
  try {
    return JSON.stringify(result);
  } catch (error) {
    const isCircle = error instanceof RangeError || /circular/.test(messageOf(error));
    throw isCircle
      ? circular(name)
      : new TypeError(`${name} returned a value that cannot be converted to JSON: ${messageOf(error)}`);
  }
}

function circular(name: string): TypeError {
  return new TypeError(`${name} returned an object that contains itself, which cannot be converted to JSON`);
}

/** Texts of rows as they are in the database: one that no one writes is read by many rollouts. */
const rowTexts = new WeakMap<object, string>();

function rowText(row: object): string {
  const known = rowTexts.get(row);
  if (known !== undefined) return known;
  const text = JSON.stringify(row);
  rowTexts.set(row, text);
  return text;
}

function refused(call: CodeCall, sides: Sides, parsed: unknown, error: unknown): ToolOutcome {
  sides.open?.draft.discard();
  const cause = isFrozenWrite(error) ? explained(call, parsed, error) : error;
  const message = messageOf(cause);
  if (!isToolError(cause)) call.log(`${call.name}: ${message}${placeText(error, call.folder)}`);
  return failedOutcome(message);
}

/** A write to a frozen view says neither what nor why: the same call with a view that explains it does. */
function explained(call: CodeCall, parsed: unknown, error: unknown): unknown {
  const sides = openSides(call, tracedView);
  try {
    const again = call.guard(() => call.tool.run(parsed as never, sides.context));
    if (again instanceof Promise) again.catch(() => undefined);
    return error;
  } catch (better) {
    return better;
  } finally {
    sides.open?.draft.discard();
  }
}

function isFrozenWrite(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    /read only property|has only a getter|not extensible|Cannot delete property|may not write/.test(error.message)
  );
}

/** By name: the domain has its own copy of the class. */
function isToolError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ToolError';
}

function messageOf(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!(error instanceof Error)) return `the tool threw ${String(error)}, which is not an Error`;
  return (error as { readonly code?: unknown }).code === 'ERR_ACCESS_DENIED' ? deniedText : error.message;
}

function placeText(error: unknown, folder: string): string {
  const place = errorLocation(error, folder);
  return place ? ` (${place.file}:${place.line}:${place.column})` : '';
}

export type SyncCall = Pick<CodeCall, 'folder' | 'guard'> &
  Pick<ToolContext, 'world' | 'now'> & { readonly sync: Sync };

/**
 * Returns what a domain's `sync` writes to either side of a world. A `sync` that throws is a fault of the environment.
 */
export function callSync({ sync, world, now, folder, guard }: SyncCall): Writes {
  const drafts = { agent: draft(world.agent), user: draft(world.user) };
  try {
    const result = guard(() => sync({ db: drafts.agent.view, userDb: drafts.user.view, now }));
    if (result instanceof Promise) {
      result.catch(() => undefined);
      throw new TypeError('it returned a promise, and a sync must be synchronous');
    }
    return (['agent', 'user'] as const).flatMap((side) => {
      const { patches } = drafts[side].finish();
      return patches.length > 0 ? [{ side, patches }] : [];
    }) as unknown as Writes;
  } catch (error) {
    const place = errorLocation(error, folder);
    const at = place ? { file: place.file, line: place.line } : {};
    throw new Fault({ who: 'environment', code: 'sync/failed', message: `sync failed: ${messageOf(error)}`, ...at });
  }
}
