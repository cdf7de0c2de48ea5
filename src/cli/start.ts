import { setFlagsFromString } from 'node:v8';
import { terminalText } from '../engine/core/text/terminalText.ts';
import { rolloutFlags } from '../engine/shell/processes/runtimeFlags.ts';
import { runtimeObstacle } from './doctor/runtime.ts';
import { main, processIo, unexpected } from './main.ts';

for (const flag of rolloutFlags) setFlagsFromString(flag);
process.on('uncaughtException', (error) => {
  process.stderr.write(terminalText(`rehearsal: ${unexpected(error, process.env)}\n`));
  process.exit(2);
});
const obstacle = runtimeObstacle();
if (obstacle) process.stderr.write(`${obstacle}\n`);
process.exitCode = obstacle ? 2 : await main(process.argv.slice(2), processIo());
