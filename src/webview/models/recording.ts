import type { Note, ToWebview } from '../messages/protocol.ts';
import { appended, emptyTrajectory, type Trajectory } from './entries.ts';

/** A recording as far as the extension has brought it. */
export type Recording = {
  readonly name: string;
  /** Steps that it has. */
  readonly total: number;
  /** Why not all of it can be read, in a sentence. */
  readonly problem: string | null;
  /** The step that it is opened at; null for the first. */
  readonly step: number | null;
  /** Whether the user last left the section of latency and tokens open; null if the user never opened or closed it. */
  readonly isTimelineOpen: boolean | null;
  /** Whether a process may still add to it. */
  readonly isWritten: boolean;
  readonly trajectory: Trajectory;
  /** The sidecar's notes about the steps, by step number. */
  readonly notes: ReadonlyMap<number, Note>;
};

/** Returns what a message of the extension makes of the recording that is shown. */
export function received(recording: Recording | null, message: ToWebview): Recording | null {
  switch (message.type) {
    case 'recordingOpened': {
      const { name, total, problem, step = null, isTimelineOpen = null, isWritten = false } = message;
      return { name, total, problem, step, isTimelineOpen, isWritten, trajectory: emptyTrajectory, notes: new Map() };
    }
    case 'recordingGrew':
      return (
        recording && {
          ...recording,
          total: message.total,
          problem: message.problem,
          isWritten: message.isWritten ?? false,
        }
      );
    case 'recordingRead':
      return recording && { ...recording, trajectory: appended(recording.trajectory, message.events) };
    case 'recordingNoted':
      return recording && { ...recording, notes: new Map(message.notes.map((note) => [note.n, note])) };
    default:
      return recording;
  }
}
