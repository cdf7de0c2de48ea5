import { onTestFinished } from 'vitest';
import { type ScriptedAnswer, type ScriptedModel, serveModel, type Usage, usualUsage } from './scriptedModel.ts';

/**
 * Starts the endpoint of a scripted model, which lives as long as the test.
 * @param used the token usage that every answer reports; null for none
 */
export async function modelServer(answer: ScriptedAnswer, used: Usage | null = usualUsage): Promise<ScriptedModel> {
  const model = await serveModel(answer, { used });
  onTestFinished(model.close);
  return model;
}
