import { type ModelSettings, modelSettingsSchema } from '../../engine/core/domain/modelSettings.ts';
import { issueText } from '../../engine/core/text/issueText.ts';
import { jsonOf } from '../../engine/core/values/json.ts';

/** Headers go only to an endpoint that the same source names, and here a model is picked. */
const pickedSchema = modelSettingsSchema.omit({ headers: true });

/** Parses the typed settings of a picked model. Returns an error message if they are not valid. */
export function readPickedSettings(typed: string): ModelSettings | string {
  if (typed.trim() === '') return {};
  const { data, error } = pickedSchema.safeParse(jsonOf(typed));
  if (data) return data;
  return `${issueText(error, 'the settings')}. The settings are JSON with ${Object.keys(pickedSchema.shape).join(', ')}.`;
}
