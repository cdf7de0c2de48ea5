/** The editor's colours as a chart needs them: plain CSS colours, resolved from VS Code's theme variables. */
export type Palette = {
  readonly background: string;
  readonly foreground: string;
  readonly muted: string;
  readonly grid: string;
  readonly focus: string;
  /** The colour of marks where an alarm was raised. */
  readonly alarm: string;
  readonly font: string;
  readonly highContrast: boolean;
  /** One colour a metric. */
  readonly series: Readonly<Record<SeriesColor, string>>;
};

export type SeriesColor = 'green' | 'red' | 'purple' | 'blue' | 'orange' | 'yellow';

/** Variable and what replaces it, for a dark and for a light theme, when a theme leaves it out. */
const variables = {
  background: ['--vscode-editor-background', '#1f1f1f', '#ffffff'],
  foreground: ['--vscode-foreground', '#cccccc', '#3b3b3b'],
  muted: ['--vscode-descriptionForeground', '#9d9d9d', '#6b6b6b'],
  focus: ['--vscode-focusBorder', '#0078d4', '#005fb8'],
  alarm: ['--vscode-editorWarning-foreground', '#cca700', '#8a5f00'],
  green: ['--vscode-charts-green', '#89d185', '#388a34'],
  red: ['--vscode-charts-red', '#f14c4c', '#e51400'],
  purple: ['--vscode-charts-purple', '#b180d7', '#652d90'],
  blue: ['--vscode-charts-blue', '#3794ff', '#1a85ff'],
  orange: ['--vscode-charts-orange', '#d18616', '#b05a00'],
  yellow: ['--vscode-charts-yellow', '#cca700', '#8a6d00'],
} as const;

/** Reads the palette of the theme that the page has now. */
export function readPalette(): Palette {
  const { classList } = document.body;
  const light = classList.contains('vscode-light') || classList.contains('vscode-high-contrast-light');
  const highContrast = classList.contains('vscode-high-contrast') || classList.contains('vscode-high-contrast-light');
  const styles = getComputedStyle(document.body);
  const color = (name: keyof typeof variables): string => {
    const [variable, dark, bright] = variables[name];
    return styles.getPropertyValue(variable).trim() || (light ? bright : dark);
  };
  const size = styles.getPropertyValue('--vscode-font-size').trim() || '13px';
  return {
    background: color('background'),
    foreground: color('foreground'),
    muted: highContrast ? color('foreground') : color('muted'),
    grid: gridColor(highContrast, light),
    focus: color('focus'),
    alarm: color('alarm'),
    font: `${Math.max(10, Number.parseFloat(size) - 2)}px ${styles.fontFamily}`,
    highContrast,
    series: {
      green: color('green'),
      red: color('red'),
      purple: color('purple'),
      blue: color('blue'),
      orange: color('orange'),
      yellow: color('yellow'),
    },
  };
}

function gridColor(highContrast: boolean, light: boolean): string {
  const channel = light ? 0 : 255;
  return `rgba(${channel}, ${channel}, ${channel}, ${highContrast ? 0.35 : 0.1})`;
}

/**
 * Calls back after each change of the theme. VS Code changes the class of the body, its theme id (two dark themes
 * share a class) and the variables on the root element; forced colours are the operating system's.
 */
export function watchTheme(onChange: () => void): () => void {
  let queued = 0;
  const later = (): void => {
    cancelAnimationFrame(queued);
    queued = requestAnimationFrame(onChange);
  };
  const observer = new MutationObserver(later);
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
  const forcedColors = window.matchMedia('(forced-colors: active)');
  forcedColors.addEventListener('change', later);
  return () => {
    cancelAnimationFrame(queued);
    observer.disconnect();
    forcedColors.removeEventListener('change', later);
  };
}
