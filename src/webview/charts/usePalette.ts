import { useEffect, useState } from 'preact/hooks';
import { type Palette, readPalette, watchTheme } from './theme.ts';

/** The palette of the editor's theme; a new one after each change of the theme. */
export function usePalette(): Palette {
  const [palette, setPalette] = useState(readPalette);
  useEffect(() => watchTheme(() => setPalette(readPalette())), []);
  return palette;
}
