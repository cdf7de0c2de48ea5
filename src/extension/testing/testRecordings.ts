import type { TestItem } from 'vscode';

/** A recording, and the step of it to look at first. */
export type TestRecording = { readonly recording: string; readonly step: number | undefined };

const recordings = new WeakMap<TestItem, TestRecording>();

/** Remembers the recording of a test's last rollout. */
export function rememberRecording(test: TestItem, recording: TestRecording): void {
  recordings.set(test, recording);
}

/**
 * The recording of the test that a menu of the Test Explorer is on: menus of items give the item, menus of messages the
 * item beside the message.
 */
export function recordingOfTest(target: unknown): TestRecording | undefined {
  const { test = target } = (target ?? {}) as { readonly test?: unknown };
  return typeof test === 'object' && test !== null ? recordings.get(test as TestItem) : undefined;
}
