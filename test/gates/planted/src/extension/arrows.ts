import { DebugSession } from '@vscode/debugadapter'; // expects: noRestrictedImports
import { provideVSCodeDesignSystem } from '@vscode/webview-ui-toolkit'; // expects: noRestrictedImports
import { APIError } from 'openai'; // expects: noRestrictedImports
import uPlot from 'uplot'; // expects: noRestrictedImports
import { main } from '../cli/main.ts'; // expects: noRestrictedImports
import { mount } from '../webview/main.tsx'; // expects: noRestrictedImports
import type { ToWebview } from '../webview/messages/protocol.ts';

export const used = [DebugSession, provideVSCodeDesignSystem, APIError, uPlot, main, mount] as unknown as ToWebview;
