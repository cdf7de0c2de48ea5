import { parseToWebview, type ToExtension, type ToWebview } from '../messages/protocol.ts';

type VsCodeApi = {
  readonly postMessage: (message: unknown) => void;
  readonly getState: () => unknown;
  readonly setState: (state: unknown) => void;
};

declare function acquireVsCodeApi(): VsCodeApi;

/** The page's side of the channel to the extension. */
export type Bridge = {
  readonly post: (message: ToExtension) => void;
  /** Calls back for each message of the extension, in order. Returns what ends that. */
  readonly receive: (listener: (message: ToWebview) => void) => () => void;
  /** State of the interface that survives a reload of the page. Data never goes here. */
  readonly loadState: () => unknown;
  readonly saveState: (state: unknown) => void;
};

/** Connects this page to the extension; VS Code allows it once a page. */
export function connectBridge(): Bridge {
  const api = acquireVsCodeApi();
  return {
    post: (message) => api.postMessage(message),
    receive: (listener) => {
      const onMessage = ({ data }: MessageEvent<unknown>): void => {
        const parsed = parseToWebview(data);
        if (parsed.ok) listener(parsed.message);
        else console.error(`Rehearsal: a message from the extension is invalid. ${parsed.problem}`);
      };
      window.addEventListener('message', onMessage);
      return () => window.removeEventListener('message', onMessage);
    },
    loadState: () => api.getState(),
    saveState: (state) => api.setState(state),
  };
}
