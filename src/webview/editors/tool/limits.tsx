import type { JSX } from 'preact';
import type { ToolContent } from '../../messages/editorMessages.ts';
import { numberFrom } from '../../models/schemaForm.ts';
import { Choice, TextInput } from '../fields.tsx';
import type { Edit } from '../frame.tsx';

export type LimitsProps = {
  readonly limits: NonNullable<ToolContent['simulated']>['limits'];
  readonly effect: 'read' | 'write';
  readonly edit: Edit;
};

const yesOrNo = [
  { value: 'true', label: 'yes' },
  { value: 'false', label: 'no' },
] as const;

/** Shows the settings of calls; the engine's defaults apply to those left out. */
export function Limits({ limits, effect, edit }: LimitsProps): JSX.Element {
  const number = (path: string[], typed: string): void => {
    const value = numberFrom(typed);
    if (typed.trim() === '') edit.remove(path);
    else edit.set(path, value);
  };
  const choice = (path: string[], chosen: string): void => {
    if (chosen === '') edit.remove(path);
    else edit.set(path, chosen === 'true');
  };
  const written = (value: number | undefined): string => (value === undefined ? '' : String(value));
  const { rateLimit } = limits;
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">Limits</h2>
      <div class="fields-row">
        <TextInput
          label="Timeout (ms)"
          value={written(limits.timeoutMs)}
          placeholder="60000"
          onCommit={(value) => number(['timeoutMs'], value)}
        />
        <TextInput
          label="Retries"
          value={written(limits.retries)}
          placeholder="0"
          onCommit={(value) => number(['retries'], value)}
        />
      </div>
      <div class="fields-row">
        <TextInput
          label="Maximum calls"
          value={written(rateLimit?.calls)}
          placeholder="unlimited"
          onCommit={(value) =>
            value.trim() === '' ? edit.remove(['rateLimit']) : number(['rateLimit', 'calls'], value)
          }
        />
        <TextInput
          label="in milliseconds"
          value={written(rateLimit?.perMs)}
          placeholder="1000"
          isDisabled={rateLimit === undefined}
          onCommit={(value) => number(['rateLimit', 'perMs'], value)}
        />
      </div>
      <div class="fields-row">
        <Choice
          label="Idempotent"
          value={limits.idempotent === undefined ? '' : String(limits.idempotent)}
          options={[{ value: '', label: `${effect === 'read' ? 'yes' : 'no'} (a ${effect})` }, ...yesOrNo]}
          onCommit={(value) => choice(['idempotent'], value)}
        />
        <Choice
          label="Cached"
          value={limits.cache === undefined ? '' : String(limits.cache)}
          options={[{ value: '', label: 'no (not set)' }, ...yesOrNo]}
          hint="Identical reads in one rollout are made only once, until the next write."
          onCommit={(value) => choice(['cache'], value)}
        />
      </div>
    </section>
  );
}
