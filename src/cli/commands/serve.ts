import { createInterface } from 'node:readline';
import type { Command } from '../options/command.ts';
import { UsageError } from '../terminal/io.ts';
import { openTrainingChannel } from '../training/trainingChannel.ts';

export const serve: Command = {
  name: 'serve',
  summary: 'play rollouts for a trainer, over standard input and output',
  help: 'rehearsal serve --stdio\n\nSpeaks the training protocol (docs/training-protocol.md) in JSON lines until its input ends.\n\n  --stdio            over standard input and output: the only way there is\n  --json             what could not be done as JSON too; what it speaks is JSON in any case\n',
  options: { stdio: { type: 'boolean' } },
  run: async (given, io) => {
    if (given.values['stdio'] !== true) throw new UsageError('say --stdio: it is the only way to be reached');
    const channel = openTrainingChannel(io.cwd, (message) => io.out(`${JSON.stringify(message)}\n`));
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    io.signal.addEventListener('abort', () => lines.close(), { once: true });
    for await (const line of lines) if (line.trim() !== '') void channel.receive(line);
    await channel.close();
    return 0;
  },
};
