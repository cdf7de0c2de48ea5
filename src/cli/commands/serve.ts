import { createInterface } from 'node:readline';
import { type Command, defineCommand } from '../options/command.ts';
import { flag } from '../options/option.ts';
import { UsageError } from '../terminal/io.ts';
import { openTrainingChannel } from '../training/trainingChannel.ts';

export const serve: Command = defineCommand({
  name: 'serve',
  summary: 'play rollouts for a trainer, over standard input and output',
  usage: '--stdio',
  about:
    'Speaks the training protocol, version 1, in JSON lines until its input ends. `npx rehearsal help docs/training-protocol` describes it.',
  options: {
    stdio: flag('use standard input and output, the only transport'),
    json: flag('print startup errors as JSON; the protocol itself is always JSON'),
  },
  run: async ({ stdio }, _positionals, io) => {
    if (!stdio) throw new UsageError('add --stdio, the only transport');
    const channel = openTrainingChannel(io.cwd, (message) => io.out(`${JSON.stringify(message)}\n`));
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    io.signal.addEventListener('abort', () => lines.close(), { once: true });
    for await (const line of lines) if (line.trim() !== '') void channel.receive(line);
    await channel.close();
    return 0;
  },
});
