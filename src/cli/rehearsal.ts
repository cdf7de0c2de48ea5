import { main, processIo } from './main.ts';
import { runtimeObstacle } from './runtime.ts';

const obstacle = runtimeObstacle();
if (obstacle) process.stderr.write(`${obstacle}\n`);
process.exitCode = obstacle ? 2 : await main(process.argv.slice(2), processIo());
