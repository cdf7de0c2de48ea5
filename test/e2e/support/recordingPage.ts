import type { Numbered, ToWebview } from '../../../src/webview/messages/protocol.ts';
import type { Theme } from './themes.ts';
import type { ViewBrowser, ViewPage } from './viewPage.ts';

export type RecordingPageOptions = {
  readonly theme?: Theme;
  readonly problem?: string;
  /** The state that the page saved the last time. */
  readonly state?: unknown;
  /** Size of the window in pixels. */
  readonly size?: { readonly width: number; readonly height: number };
};

/** Opens the Trajectory view on events, as the extension would: a few first, then the others, then the sidecar. */
export async function openRecordingPage(
  browser: ViewBrowser,
  events: readonly Numbered[],
  { theme, problem, state, size }: RecordingPageOptions = {},
): Promise<ViewPage> {
  const view = await browser.open('trajectory', theme, state, size);
  await view.send(...messagesOf(events, problem ?? null));
  await view.page.locator('article').first().waitFor();
  return view;
}

/** Returns the messages of the extension for a recording with these events. */
export function messagesOf(events: readonly Numbered[], problem: string | null): readonly ToWebview[] {
  const parts: Numbered[][] = [events.slice(0, 200)];
  for (let at = 200; at < events.length; at += 2000) parts.push(events.slice(at, at + 2000));
  const ms: Readonly<Record<string, number>> = { agentReplied: 900, userReplied: 300, toolReturned: 20 };
  return [
    { type: 'recordingOpened', name: 'a.traj.jsonl', total: events.length, problem },
    ...parts.map((part) => ({ type: 'recordingRead' as const, events: part })),
    {
      type: 'recordingNoted',
      notes: events.map(({ n, event: { type } }) => ({
        n,
        ms: (ms[type] ?? 0.3) * (1 + (n % 5)),
        ...(type === 'agentReplied' ? { input: 1000 + n, output: 40 } : {}),
        refused: [],
      })),
    },
  ];
}
