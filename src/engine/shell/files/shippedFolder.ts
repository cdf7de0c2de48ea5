import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A folder that is shipped with the engine: beside the bundle or above it, or in the sources. */
export function shippedFolder(name: string): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const places = ['.', '..', '../..', '../../..', '../../../..'].map((way) => join(here, way, name));
  return places.find((place) => existsSync(place)) ?? join(here, name);
}
