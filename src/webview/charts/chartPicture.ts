import type { CurveLook } from './curveLook.ts';
import type { Palette } from './theme.ts';

/**
 * A picture for a page or a talk: a chart as it is drawn, below its title and the names of its curves. A PNG in base64.
 * @param scale pixels of the canvas for one of CSS
 */
export function chartPicture(
  drawn: HTMLCanvasElement,
  scale: number,
  title: string,
  names: readonly string[],
  { palette, looks }: { readonly palette: Palette; readonly looks: readonly CurveLook[] },
): string {
  const line = 20 * scale;
  const top = line * (1 + names.length) + 8 * scale;
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [drawn.width, drawn.height + top];
  const ctx = canvas.getContext('2d');
  if (!ctx) return '';
  ctx.fillStyle = palette.background;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.fillStyle = palette.foreground;
  ctx.textBaseline = 'middle';
  ctx.font = `600 ${13 * scale}px sans-serif`;
  ctx.fillText(title, 12 * scale, line / 2 + 4 * scale);
  ctx.font = `${12 * scale}px sans-serif`;
  for (const [index, name] of names.entries()) {
    const { color, dash } = looks[index] ?? { color: 'blue', dash: [] };
    const y = line * (index + 1.5) + 4 * scale;
    ctx.strokeStyle = palette.series[color];
    ctx.lineWidth = 2 * scale;
    ctx.setLineDash(dash.map((length) => length * scale));
    ctx.beginPath();
    ctx.moveTo(12 * scale, y);
    ctx.lineTo(40 * scale, y);
    ctx.stroke();
    ctx.fillText(name, 48 * scale, y);
  }
  ctx.drawImage(drawn, 0, top);
  return canvas.toDataURL('image/png').replace(/^data:image\/png;base64,/, '');
}
