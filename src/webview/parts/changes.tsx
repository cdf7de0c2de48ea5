import type { JSX } from 'preact';
import type { Change } from '../models/trajectory.ts';
import './changes.css';

const foldedChanges = 6;
const sides = { agent: "Agent's database", user: "User's database" } as const;

/** Changes of the databases, one table a side. */
export function Changes({
  changes,
  whole,
}: {
  readonly changes: readonly Change[];
  readonly whole: boolean;
}): JSX.Element {
  const both = (['agent', 'user'] as const).map((side) => ({
    side,
    own: changes.filter((each) => each.side === side),
  }));
  return (
    <>
      {both
        .filter(({ own }) => own.length > 0)
        .map(({ side, own }) => (
          <SideChanges
            key={side}
            title={sides[side]}
            changes={whole ? own : own.slice(0, foldedChanges)}
            of={own.length}
          />
        ))}
    </>
  );
}

function SideChanges({
  title,
  changes,
  of,
}: {
  readonly title: string;
  readonly changes: readonly Change[];
  readonly of: number;
}): JSX.Element {
  return (
    <div class="changes">
      <span class="label muted">{title}</span>
      <ul aria-label={`Changes of the ${title.toLowerCase()}`}>
        {changes.map(({ place, before, after }) => (
          <li key={place}>
            <span class="place">{place}</span>
            {before !== null && <del>{before}</del>}
            {after !== null && <ins>{after}</ins>}
          </li>
        ))}
      </ul>
      {changes.length < of && <p class="muted">{of - changes.length} more changes (Enter shows them)</p>}
    </div>
  );
}
