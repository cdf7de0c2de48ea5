import * as z from 'zod';
import { isPublicKey } from '../../engine/shell/records/ledger.ts';
import { option } from './option.ts';

const publicKey = z
  .string()
  .refine(
    isPublicKey,
    'an Ed25519 public key in base64, as "publicKey" in run.json has it (60 letters, MCowBQYDK2Vw...)',
  );

/** The key that has to have signed a run. */
export const trustedKey = option(
  'PUBLIC_KEY',
  'the public key that you trust, in base64 (default: that of this machine; never the one in the record)',
  publicKey,
);
