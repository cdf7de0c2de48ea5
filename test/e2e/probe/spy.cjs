/**
 * Logs every process that is started in the process that requires this file, and in the Node processes below it, whose
 * environment makes them require it, too.
 */
const childProcess = require('node:child_process');
const { appendFileSync } = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { Server } = require('node:net');
const { join } = require('node:path');

const folder = process.env.REHEARSAL_PROBE;
const note = (line) => appendFileSync(join(folder, 'noted.jsonl'), `${JSON.stringify(line)}\n`);

const { spawn } = childProcess.ChildProcess.prototype;
childProcess.ChildProcess.prototype.spawn = function (options, ...rest) {
  note({ type: 'started', words: [...(options.args ?? [options.file])] });
  return spawn.call(this, options, ...rest);
};
for (const name of ['spawnSync', 'execSync', 'execFileSync']) {
  const own = childProcess[name];
  childProcess[name] = (command, ...rest) => {
    note({ type: 'started', words: [command, ...(Array.isArray(rest[0]) ? rest[0] : [])] });
    return own(command, ...rest);
  };
}
syncBuiltinESMExports();

const { listen } = Server.prototype;
Server.prototype.listen = function (...where) {
  // VS Code itself listens for the debugger and for its terminals.
  if (/[\\/]rehearsal\.(?:rehearsal-|mjs)/.test(new Error().stack))
    note({ type: 'listened', words: where.map(String) });
  return listen.apply(this, where);
};

process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(__filename)}`.trim();
note({ type: 'watched', words: process.argv });
