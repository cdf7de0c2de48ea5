import type { JSX, RefObject } from 'preact';
import { type Choices, type Filter, type FilterKey, noFilter } from '../models/filter.ts';
import { Button, Dropdown, TextField } from '../parts/controls.ts';
import { focusSearch } from './findKey.ts';

const names: Readonly<Record<FilterKey, string>> = {
  speaker: 'Speaker',
  who: 'Who failed',
  reason: 'Reason',
  tool: 'Tool',
  rule: 'Rule',
};
const keys = Object.keys(names) as readonly FilterKey[];

export type FilterBarProps = {
  readonly filter: Filter;
  readonly choices: Choices;
  readonly shown: number;
  readonly of: number;
  readonly bar: RefObject<HTMLElement | null>;
  readonly onFilter: (filter: Filter) => void;
  /** From the search to the list. */
  readonly onLeave: () => void;
};

/** Filters the list. Values without an entry can't be chosen, unless they are already chosen. */
export function FilterBar({ filter, choices, shown, of, bar, onFilter, onLeave }: FilterBarProps): JSX.Element {
  const isNarrowed = Object.values(filter).some((value) => value !== '');
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && filter.text !== '') onFilter({ ...filter, text: '' });
    else if (event.key === 'ArrowDown' || event.key === 'Escape') onLeave();
    else return;
    event.preventDefault();
  };
  // The button disappears with the filters.
  const clear = (): void => {
    onFilter(noFilter);
    focusSearch(bar);
  };
  return (
    <search class="filters" aria-label="Filter the conversation" ref={bar}>
      <TextField
        label="Search all entries"
        placeholder="Search (/)"
        value={filter.text}
        onInput={(text) => onFilter({ ...filter, text })}
        onKeyDown={onKeyDown}
      />
      {keys.map((key) => {
        const chosen = filter[key];
        const options = optionsOf(choices, key, chosen);
        if (options.length === 1) return null;
        return (
          <Dropdown
            key={key}
            label={names[key]}
            value={chosen}
            options={options}
            onSelect={(value) => onFilter({ ...filter, [key]: value })}
          />
        );
      })}
      <span class="count muted" role="status">
        {isNarrowed ? `${shown} of ${of} entries` : `${of} entries`}
      </span>
      {isNarrowed && <Button onPress={clear}>Clear Filters</Button>}
    </search>
  );
}

function optionsOf(choices: Choices, key: FilterKey, chosen: string) {
  const listed = choices[key].map(({ value, label, count }) => ({ value, label: `${label} (${count})` }));
  const gone = chosen !== '' && !listed.some(({ value }) => value === chosen);
  return [
    { value: '', label: `${names[key]}: all` },
    ...listed,
    ...(gone ? [{ value: chosen, label: `${chosen} (0)` }] : []),
  ];
}
