import uPlot from 'uplot'; // expects: noRestrictedImports
import { provideVSCodeDesignSystem } from '@vscode/webview-ui-toolkit'; // expects: noRestrictedImports
import { main } from '../cli/main.ts'; // expects: noRestrictedImports
import { drive } from '../engine/shell/driver.ts'; // expects: noRestrictedImports
import { activate } from '../extension/main.ts'; // expects: noRestrictedImports

export const used = [uPlot, provideVSCodeDesignSystem, main, drive, activate];
