import { onTestFinished } from 'vitest';
import { type ScriptedAnswer, type ScriptedModel, serveModel, usualUsage } from './scriptedModel.ts';

/**
 * A scripted model's endpoint that lives as long as the test.
 * @param used the tokens that every answer says it took
 */
export async function modelServer(answer: ScriptedAnswer, used = usualUsage): Promise<ScriptedModel> {
  const model = await serveModel(answer, { used });
  onTestFinished(model.close);
  return model;
}
