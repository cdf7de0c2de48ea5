// Two turns with the AI SDK of Vercel and its own spans: the current ones, or with EARLIER_ATTRIBUTES=1 the earlier ones.
import { appendFileSync } from 'node:fs';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { generateText, isStepCount, registerTelemetry, tool } from 'ai';
import { z } from 'zod';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
registerTelemetry(process.env.EARLIER_ATTRIBUTES ? new LegacyOpenTelemetry() : new OpenTelemetry());

const statuses = { W1: 'shipped on Monday', W2: 'shipped on Tuesday' };
const model = createOpenAICompatible({ name: 'scripted', baseURL: process.env.MODEL_URL, apiKey: 'none' })('scripted');
const tools = {
  get_order: tool({
    description: 'Returns the status of an order.',
    inputSchema: z.object({ order_id: z.string() }),
    execute: async ({ order_id }) => statuses[order_id],
  }),
};

let messages = [];
for (const said of ['Where are W1 and W2?', 'Thanks.']) {
  const turn = () =>
    generateText({
      model,
      tools,
      system: 'Be brief.',
      messages: [...messages, { role: 'user', content: said }],
      stopWhen: isStepCount(5),
      maxRetries: 0,
      telemetry: { isEnabled: true, recordInputs: true, recordOutputs: true },
    });
  const { responseMessages } = await turn().catch((error) => {
    console.error('first attempt:', String(error));
    return turn();
  });
  messages = [...messages, { role: 'user', content: said }, ...responseMessages];
}

appendFileSync(process.env.SPANS_FILE, JsonTraceSerializer.serializeRequest(exporter.getFinishedSpans()));
