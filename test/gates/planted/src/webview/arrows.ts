import uPlot from 'uplot'; // expects: noRestrictedImports
import { provideVSCodeDesignSystem } from '@vscode/webview-ui-toolkit'; // expects: noRestrictedImports
import { main } from '../cli/main.ts'; // expects: noRestrictedImports
import { drive } from '../engine/shell/rollout/driver.ts'; // expects: noRestrictedImports
import { activate } from '../extension/main.ts'; // expects: noRestrictedImports

import { advance } from '../engine/core/rollout/rollout.ts'; // expects: plugin
import type { Event } from '../engine/core/events/event.ts';

export const used = [uPlot, provideVSCodeDesignSystem, main, drive, activate, advance] as unknown as Event;
