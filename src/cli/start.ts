import { setFlagsFromString } from 'node:v8';
import { terminalText } from '../engine/core/text/terminalText.ts';
import { logFlags, rolloutFlags } from '../engine/shell/processes/runtimeFlags.ts';
import { runtimeObstacle } from './doctor/runtime.ts';
import { main, processIo, unexpected } from './main.ts';

const readLogs = ['import', 'new', 'shadow'].includes(process.argv[2] ?? '');
for (const flag of [...rolloutFlags, ...(readLogs ? logFlags : [])]) setFlagsFromString(flag);
process.on('uncaughtException', (error) => {
  process.stderr.write(terminalText(`rehearsal: ${unexpected(error, process.env)}\n`));
  process.exit(2);
});
const obstacle = runtimeObstacle();
if (obstacle) process.stderr.write(`${obstacle}\n`);
process.exitCode = obstacle ? 2 : await main(process.argv.slice(2), processIo());
