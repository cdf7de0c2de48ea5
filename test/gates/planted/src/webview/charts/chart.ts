import { provideVSCodeDesignSystem } from '@vscode/webview-ui-toolkit'; // expects: noRestrictedImports
import uPlot from 'uplot';

export const used = [provideVSCodeDesignSystem, uPlot];
