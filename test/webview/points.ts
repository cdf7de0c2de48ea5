import type { Point } from '../../src/webview/messages/protocol.ts';

/** A measured optimizer step. */
export const point = (step: number, metrics: Record<string, number> = {}): Point => ({
  step,
  time: step * 60_000,
  metrics,
});
