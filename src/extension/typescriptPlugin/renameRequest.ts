import type { LineOffset } from './server.ts';

/** The command with which the extension requests a rename from the plugin. The server that knows the types makes it. */
export const renameCommand = '_rehearsal.rename';

/** The name at a place of a file, and what it becomes. */
export type RenameRequest = LineOffset & { readonly file: string; readonly name: string };

/** One edit of the answer. */
export type RenameEdit = {
  readonly file: string;
  readonly start: LineOffset;
  readonly end: LineOffset;
  readonly text: string;
};
