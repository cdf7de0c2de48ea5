import type { Command } from './command.ts';
import { check } from './commands/check.ts';
import { compare } from './commands/compare.ts';
import { dap } from './commands/dap.ts';
import { doctor } from './commands/doctor.ts';
import { evaluate } from './commands/eval.ts';
import { importCommand } from './commands/import.ts';
import { personas } from './commands/personas.ts';
import { regrade } from './commands/regrade.ts';
import { replayCommand } from './commands/replay.ts';
import { report } from './commands/report.ts';
import { runCommand } from './commands/run.ts';
import { serve } from './commands/serve.ts';
import { shadowCommand } from './commands/shadow.ts';
import { train } from './commands/train.ts';
import { verify } from './commands/verify.ts';

/** Every command, in the order of a person's work. */
export const commands: readonly Command[] = [
  check,
  runCommand,
  evaluate,
  personas,
  report,
  compare,
  regrade,
  shadowCommand,
  replayCommand,
  verify,
  dap,
  serve,
  train,
  importCommand,
  doctor,
];
