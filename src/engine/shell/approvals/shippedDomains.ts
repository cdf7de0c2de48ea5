import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { shippedFolder } from '../files/shippedFolder.ts';
import { type Effects, effectsIn, hashOfCode, hashOfEffects } from './effects.ts';

let shipped: ReadonlySet<string> | null = null;

/**
 * Whether a domain has the code and the effects of a sample or a template that is part of this installation. A copy may
 * have other texts and data: its code is what the product was released with.
 */
export function isShipped(effects: Effects): boolean {
  const fingerprint = fingerprintOf(effects);
  if (fingerprint === null) return false;
  shipped ??= new Set(shippedFingerprints());
  return shipped.has(fingerprint);
}

/** The effects of a sample depend on whether this machine has a sandbox, so both are known. */
function shippedFingerprints(): readonly string[] {
  const folders = ['domains', 'templates'].map(shippedFolder).filter(existsSync);
  const domains = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  return domains.flatMap((folder) =>
    [true, false].flatMap((isConfined) => {
      const effects = effectsIn(folder, isConfined);
      return (effects && fingerprintOf(effects)) ?? [];
    }),
  );
}

function fingerprintOf(effects: Effects): string | null {
  const code = hashOfCode(effects);
  return code && `${hashOfEffects(effects)} ${code}`;
}
