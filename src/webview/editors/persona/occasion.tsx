import type { JSX } from 'preact';
import type { OccasionalBehaviour, Persona } from '../../../engine/core/domain/persona.ts';
import { Slider, Switch } from '../fields.tsx';

type Occasional = Persona['behaviours'][OccasionalBehaviour];
type When = Exclude<Occasional, boolean>;

const usual: When = { from: 1, to: 3, chance: 1 };
/** The latest reply that the slider offers; the text can set a later one. */
const latest = 20;

export type OccasionProps = {
  readonly label: string;
  readonly hint: string;
  readonly value: Occasional;
  readonly onCommit: (value: boolean | When) => void;
};

/** A behaviour that happens once: whether, how likely, and at which of the replies. */
export function Occasion({ label, hint, value, onCommit }: OccasionProps): JSX.Element {
  const when = value === true ? usual : value;
  const most = when === false ? latest : Math.max(latest, when.to, when.from);
  return (
    <>
      <Switch label={label} hint={hint} value={value !== false} onCommit={onCommit} />
      {when !== false && (
        <fieldset class="inner">
          <legend class="hidden-text">{label}</legend>
          <Slider
            label="Chance"
            value={when.chance}
            min={0}
            max={1}
            step={0.05}
            onCommit={(chance) => onCommit({ ...when, chance })}
          />
          <div class="fields-row">
            <Slider
              label="From reply"
              value={when.from}
              min={1}
              max={most}
              onCommit={(from) => onCommit({ ...when, from, to: Math.max(from, when.to) })}
            />
            <Slider
              label="To reply"
              value={when.to}
              min={1}
              max={most}
              onCommit={(to) => onCommit({ ...when, to, from: Math.min(to, when.from) })}
            />
          </div>
        </fieldset>
      )}
    </>
  );
}
