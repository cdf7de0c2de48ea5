import type { Tool } from '../../core/domain/tool.ts';
import type { NumberForms } from '../../core/events/message.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import type { Attachments } from '../../core/values/media.ts';

export type SourceResult = Attachments & {
  readonly content: string;
  readonly isError: boolean;
  /** Whether the call is known to have changed nothing: it did not reach the source, or its changes were taken back. */
  readonly isUnchanged?: boolean;
  /** Whether the source refused the call for now, so that the same call may work later. */
  readonly isTemporary?: boolean;
  /** The mismatch between the result and the output schema of its tool. */
  readonly mismatch?: string;
  /** Whether its server changed its list of tools meanwhile. */
  readonly changedTools?: boolean;
  /** The state after the call, where the source gives it along. */
  readonly snapshot?: Json;
};

export type SourceCallOptions = NumberForms & {
  readonly signal?: AbortSignal;
  /** The same for every attempt of one call, so that a source can tell an attempt from another call. */
  readonly idempotencyKey?: string;
  /** In place of the source's own. */
  readonly timeoutMs?: number;
};

/** A call whose result is the state of a source. */
export type Reader = {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly lines?: string | undefined;
  readonly rows?: boolean | undefined;
};

/** State outside the engine, with its tools: an MCP server or a Python environment, the instance of one rollout. */
export type ToolSource = {
  readonly tools: readonly Tool[];
  readonly call: (name: string, args: JsonObject, options?: SourceCallOptions) => Promise<SourceResult>;
  /**
   * The state, by the declared reader or another one.
   * @param takesRows whether assertions take rows of the state
   */
  readonly read: (reader?: Reader, takesRows?: boolean) => Promise<Json>;
  /** Returns the value of an assertion function of the source for its state. */
  readonly assert?: (name: string) => Promise<Json>;
  /** Puts a task's own start on a fresh instance. */
  readonly setUp?: (data: Json) => Promise<void>;
  /** Opens a fresh session in place of one that the server no longer knows. */
  readonly renew?: () => Promise<void>;
  readonly snapshot?: (signal?: AbortSignal) => Promise<Json>;
  readonly restore?: (snapshot: Json, signal?: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
};
