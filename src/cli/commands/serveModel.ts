import { dialects, usualDialect } from '../../engine/core/domain/dialect.ts';
import { modelNamed, serveModel } from '../checkpoints/servedModel.ts';
import { trainedChat } from '../checkpoints/trainedChat.ts';
import { type Command, defineCommand } from '../options/command.ts';
import { json, oneOf, port, text } from '../options/option.ts';
import { UsageError } from '../terminal/io.ts';

export const serveModelCommand: Command = defineCommand({
  name: 'serve-model',
  takes: 1,
  summary: 'serve a model or a checkpoint as an OpenAI-compatible endpoint on this machine',
  usage: 'MODEL [options]',
  about: `
Serves a model on loopback until Ctrl+C: an OpenAI-compatible endpoint with its own token, for any client
that sends tools. MODEL is smollm2, tiny, a checkpoint's folder (<run>/checkpoints/<name>), or a hub id. To run or debug
with a checkpoint, you do not need this server: pass "--agent checkpoint:FOLDER" to run or eval, or set it as "agent" in
a debug configuration.
`,
  options: {
    dialect: oneOf(
      'NAME',
      "template (the model's own chat template), compact, or auto: the template if it shows tools, else compact (default: as the checkpoint's run trained it, else auto)",
      dialects,
    ),
    port: port('the port (default: a free one)'),
    python: text('PATH', 'an existing Python to use as it is, without downloads (see `npx rehearsal help train`)'),
    json,
  },
  run: async (options, [named], io) => {
    if (named === undefined)
      throw new UsageError('name the model: smollm2, tiny, the folder of a checkpoint, or a hub id');
    const model = modelNamed(named, named, io);
    const { dialect: trained = usualDialect, thinking = false } = trainedChat(model);
    const { dialect = trained, port = 0, python } = options;
    const served = await serveModel(io, { model, dialect, thinking, port, python });
    const { url, token } = served;
    if (options.json) io.out(`${JSON.stringify({ model, url, token, dialect, thinking })}\n`);
    else io.out(`OPENAI_BASE_URL=${url}\nOPENAI_API_KEY=${token}\n`);
    io.err(`serving ${named}; Ctrl+C ends it\n`);
    await served.ended;
    return 0;
  },
});
