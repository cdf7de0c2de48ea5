import { Fragment, type JSX } from 'preact';
import { breakPlaces } from '../models/breakPlaces.ts';

/** A text whose lines break between words also where it has no spaces. */
export function Breakable({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {breakPlaces(text).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  );
}
