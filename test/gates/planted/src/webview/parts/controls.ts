import { provideVSCodeDesignSystem } from '@vscode/webview-ui-toolkit';
import uPlot from 'uplot'; // expects: noRestrictedImports

export const used = [provideVSCodeDesignSystem, uPlot];
