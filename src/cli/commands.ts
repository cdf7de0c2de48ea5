import type { Command } from './command.ts';
import { call } from './commands/call.ts';
import { check } from './commands/check.ts';
import { compare } from './commands/compare.ts';
import { coverage } from './commands/coverage.ts';
import { dap } from './commands/dap.ts';
import { doctor } from './commands/doctor.ts';
import { draft } from './commands/draft.ts';
import { evaluate } from './commands/eval.ts';
import { experiment } from './commands/experiment.ts';
import { explain } from './commands/explain.ts';
import { exportModel } from './commands/exportModel.ts';
import { importCommand } from './commands/import.ts';
import { mcp } from './commands/mcp.ts';
import { newCommand } from './commands/new.ts';
import { personas } from './commands/personas.ts';
import { preview } from './commands/preview.ts';
import { regrade } from './commands/regrade.ts';
import { replayCommand } from './commands/replay.ts';
import { report } from './commands/report.ts';
import { runCommand } from './commands/run.ts';
import { serve } from './commands/serve.ts';
import { serveModelCommand } from './commands/serveModel.ts';
import { shadowCommand } from './commands/shadow.ts';
import { synth } from './commands/synth.ts';
import { tools } from './commands/tools.ts';
import { train } from './commands/train.ts';
import { verify } from './commands/verify.ts';

/** Every command, in the order of a person's work. */
export const commands: readonly Command[] = [
  newCommand,
  check,
  draft,
  call,
  runCommand,
  evaluate,
  tools,
  personas,
  preview,
  report,
  compare,
  regrade,
  shadowCommand,
  coverage,
  replayCommand,
  explain,
  verify,
  dap,
  mcp,
  serve,
  synth,
  train,
  experiment,
  serveModelCommand,
  exportModel,
  importCommand,
  doctor,
];
