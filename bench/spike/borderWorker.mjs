// The child of border.mjs: answers tool calls with results and patches, over IPC or JSON lines.
import { answer } from './borderPayload.mjs';

const over = process.argv[2];
if (over === 'lines') {
  let rest = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (data) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop();
    let out = '';
    for (const line of lines) out += `${JSON.stringify(reply(JSON.parse(line)))}\n`;
    process.stdout.write(out);
  });
  process.stdin.on('end', () => process.exit(0));
} else {
  process.on('message', (message) => process.send(reply(message)));
}

function reply(message) {
  if (message.cpu) return { cpu: process.cpuUsage() };
  return { batch: message.batch.map(answer) };
}
