import { onTestFinished } from 'vitest';
import { type ScriptedAnswer, type ScriptedModel, serveModel, usualUsage } from './scriptedModel.ts';

/**
 * Starts the endpoint of a scripted model, which lives as long as the test.
 * @param used the token usage that every answer reports
 */
export async function modelServer(answer: ScriptedAnswer, used = usualUsage): Promise<ScriptedModel> {
  const model = await serveModel(answer, { used });
  onTestFinished(model.close);
  return model;
}
