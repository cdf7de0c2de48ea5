import { basename } from 'node:path';
import { DebugSession } from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { withoutLinks } from '../../engine/core/text/withoutLinks.ts';
import type { FileLine } from '../../engine/shell/files/diagnostic.ts';
import { Fault, messageOf } from '../../engine/shell/files/fault.ts';
import { UsageError } from '../terminal/io.ts';
import type { Then } from './playback/playback.ts';

type Link = Pick<DebugProtocol.Message, 'url' | 'urlLabel'>;

/** Returns the button of the VS Code extension that opens a line. Next to it, VS Code offers no launch.json to edit. */
export function linkTo({ file, line }: FileLine): Link {
  const url = `command:rehearsal.line.open?${encodeURIComponent(JSON.stringify([file, line]))}`;
  return { url, urlLabel: `Open ${basename(file)}, Line ${line}` };
}

/** Returns the line to fix, if an error names one. */
export function placeOf(error: unknown): FileLine | null {
  if (error instanceof UsageError) return error.at;
  if (!(error instanceof Fault)) return null;
  const { file, line } = error.failure;
  return file === undefined || line === undefined ? null : { file, line };
}

/** The answer to a request, and what to do after it is sent. */
export type Answer<Body> = { readonly body: Body; readonly after?: Then };

/** A session that answers every request exactly once, with an error message if the request fails. */
export abstract class AnsweringSession extends DebugSession {
  /** Shows an error to the user if there is no request left to refuse. */
  protected abstract tell(text: string): void;

  /** Answers a request with what `make` gives; what it throws is shown to the person. */
  protected async answer<Response extends DebugProtocol.Response>(
    response: Response,
    make: () => Answer<Response['body']> | Promise<Answer<Response['body']>>,
    showUser = true,
  ): Promise<void> {
    try {
      const { body, after } = await make();
      response.body = body;
      this.sendResponse(response);
      if (after) void this.perform(after);
    } catch (error) {
      this.refuse(response, messageOf(error), showUser);
    }
  }

  /** Runs what follows an answered request, and shows its errors in the Debug Console. */
  protected async perform(then: Then): Promise<void> {
    try {
      await then();
    } catch (error) {
      this.tell(messageOf(error));
    }
  }

  /**
   * Refuses a request in words; `showUser` lets the client show them by itself.
   * @param link a button that the client may show with the words
   */
  protected refuse(response: DebugProtocol.Response, message: string, showUser = true, link?: Link): void {
    // Without variables nothing in braces is one: a client shows them as they are.
    this.sendErrorResponse(response, { id: 1, format: withoutLinks(message), variables: {}, showUser, ...link });
  }
}

/** Reads the arguments of a request. Throws a `UsageError` if they do not match the protocol. */
export function withArguments<Read>(command: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`the arguments of ${command} are not those of the protocol: ${error.message}`);
  }
}
