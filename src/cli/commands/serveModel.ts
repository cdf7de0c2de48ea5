import { isAbsolute } from 'node:path';
import { type Dialect, dialects, usualDialect } from '../../engine/core/dialect.ts';
import { type Command, text } from '../command.ts';
import { dialectIn, trainedDialect } from '../dialect.ts';
import { UsageError } from '../io.ts';
import { modelNamed, serveModel } from '../servedModel.ts';

export const serveModelCommand: Command = {
  name: 'serve-model',
  takes: 1,
  summary: 'serve a model or a checkpoint as an OpenAI-compatible endpoint on this machine',
  help: `rehearsal serve-model MODEL [options]

Serves a model on loopback until Ctrl+C: an OpenAI-compatible endpoint with a token of its own, which any client can
use that sends tools. MODEL is smollm2, tiny, a checkpoint's folder (<run>/checkpoints/<name>), or a hub id. To play or
debug with a checkpoint no server is needed: give "--agent checkpoint:FOLDER" to run and eval, or write it as "agent" of
a debug configuration.

  --dialect NAME     hermes or compact: how tools and calls look to the model (default: a checkpoint's as its run trained it,
                     else hermes; a folder of no run needs it)
  --port N           the port (default: a free one)
  --python PATH      the Python that makes the trainer's environment (3.11 or newer)
  --json             machine-readable output
`,
  options: { dialect: { type: 'string' }, port: { type: 'string' }, python: { type: 'string' } },
  run: async (given, io) => {
    const [named] = given.positionals;
    if (named === undefined)
      throw new UsageError('name the model: smollm2, tiny, the folder of a checkpoint, or a hub id');
    const said = dialectIn(given);
    const port = portOf(text(given, 'port'));
    const model = modelNamed(named, named, io);
    const dialect = said ?? dialectOf(model);
    const served = await serveModel(io, { model, dialect, port, python: text(given, 'python') });
    const { url, token } = served;
    if (given.values['json'] === true) io.out(`${JSON.stringify({ model, url, token, dialect })}\n`);
    else io.out(`OPENAI_BASE_URL=${url}\nOPENAI_API_KEY=${token}\n`);
    io.err(`serving ${named}; Ctrl+C ends it\n`);
    await served.ended;
    return 0;
  },
};

/** A folder that no run has written was trained in a dialect that nobody can see; a name is a model before training. */
function dialectOf(model: string): Dialect {
  const trained = trainedDialect(model);
  if (!trained && isAbsolute(model))
    throw new UsageError(
      `${model} lies in no training run, so say how it was trained: --dialect ${dialects.join(' or ')}`,
    );
  return trained ?? usualDialect;
}

function portOf(given: string | undefined): number {
  const port = Number(given ?? 0);
  if (!/^\d*$/.test(given ?? '') || port > 65_535)
    throw new UsageError(`--port is a number up to 65535, not "${given}"`);
  return port;
}
