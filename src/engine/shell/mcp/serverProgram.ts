import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { StdioServer } from '../../core/domain/domain.ts';
import { RefusedFile } from '../files/boundedFile.ts';
import { messageOf } from '../files/fault.ts';
import { childEnvironment } from '../processes/childEnvironment.ts';
import { machineProgram } from '../processes/machineProgram.ts';
import { inside } from '../source/source.ts';
import type { Declared } from './declared.ts';
import type { InstanceFolder } from './instanceFolder.ts';
import type { ServerOutput } from './serverOutput.ts';
import { StdioTransport } from './stdioTransport.ts';

/** Makes the transport of a server that is started as a program. Copies its files first. */
export function stdioTransport(
  server: StdioServer,
  { name, folder, filled: { fill }, faultOf }: Declared,
  instance: InstanceFolder,
  output: ServerOutput,
): StdioTransport {
  const copyStartState = (files: string) => {
    const from = inside(folder, files);
    if (from === null)
      throw faultOf('mcp/files', `files: ${files} is outside of the domain's folder. Name a folder inside of it`);
    try {
      instance.copyOnce(from, folder);
    } catch (error) {
      const hint = error instanceof RefusedFile ? error.hint : 'Check that the folder exists and can be read.';
      throw faultOf('mcp/files', `files: ${files} cannot be copied (${messageOf(error)}). ${hint}`);
    }
  };
  /** Returns the folder that the command is started in. A relative one is in the folder of the domain. */
  const startFolder = (named: string | undefined) => {
    const path = resolve(folder, named ?? '');
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
    throw faultOf('mcp/cwd', `cwd: ${named ?? path} is not a folder. Correct mcpServers.${name}.cwd in domain.yaml`);
  };
  if (server.files !== undefined) copyStartState(server.files);
  const declared = Object.entries(server.env).map(([key, value]) => [key, fill(value)]);
  const program = {
    ...machineProgram(fill(server.command), { ...childEnvironment(), ...Object.fromEntries(declared) }),
    args: server.args.map((arg) => fill(arg)),
    cwd: startFolder(server.cwd && fill(server.cwd)),
  };
  return new StdioTransport(program, output, server.maxMessageSize);
}
