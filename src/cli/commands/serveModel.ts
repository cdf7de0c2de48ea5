import { usualDialect } from '../../engine/core/domain/dialect.ts';
import { dialectIn, trainedDialect } from '../checkpoints/dialect.ts';
import { modelNamed, serveModel } from '../checkpoints/servedModel.ts';
import { type Command, text } from '../options/command.ts';
import { UsageError } from '../terminal/io.ts';

export const serveModelCommand: Command = {
  name: 'serve-model',
  takes: 1,
  summary: 'serve a model or a checkpoint as an OpenAI-compatible endpoint on this machine',
  help: `rehearsal serve-model MODEL [options]

Serves a model on loopback until Ctrl+C: an OpenAI-compatible endpoint with its own token, which any client can
use that sends tools. MODEL is smollm2, tiny, a checkpoint's folder (<run>/checkpoints/<name>), or a hub id. To play or
debug with a checkpoint no server is needed: give "--agent checkpoint:FOLDER" to run and eval, or write it as "agent" of
a debug configuration.

  --dialect NAME     template (the model's own chat template), compact, or auto: the template if it shows tools, else compact
                     (default: as the checkpoint's run trained it, else auto)
  --port N           the port (default: a free one)
  --python PATH      an existing Python to use as it is, without downloads (see \`npx rehearsal help train\`)
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
    const dialect = said ?? trainedDialect(model) ?? usualDialect;
    const served = await serveModel(io, { model, dialect, port, python: text(given, 'python') });
    const { url, token } = served;
    if (given.values['json'] === true) io.out(`${JSON.stringify({ model, url, token, dialect })}\n`);
    else io.out(`OPENAI_BASE_URL=${url}\nOPENAI_API_KEY=${token}\n`);
    io.err(`serving ${named}; Ctrl+C ends it\n`);
    await served.ended;
    return 0;
  },
};

function portOf(given: string | undefined): number {
  const port = Number(given ?? 0);
  if (!/^\d*$/.test(given ?? '') || port > 65_535)
    throw new UsageError(`--port is a number up to 65535, not "${given}"`);
  return port;
}
