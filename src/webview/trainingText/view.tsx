import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Piece, ToWebview } from '../messages/protocol.ts';
import type { Bridge } from '../parts/bridge.ts';
import { ProgressRing } from '../parts/controls.ts';
import './view.css';

type TrainingText = Extract<ToWebview, { type: 'trainingText' }>;

/** The text that a model is trained on: trained is marked by an underline and a bar, in words, and by colour. */
export function TrainingTextView({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  const [shown, setShown] = useState<TrainingText | null>(null);
  useEffect(() => {
    const end = bridge.receive((message) => message.type === 'trainingText' && setShown(message));
    bridge.post({ type: 'ready' });
    return end;
  }, [bridge]);
  if (shown === null)
    return (
      <main class="loading">
        <ProgressRing label="Loading the training text" />
      </main>
    );
  const { name, model, dialect, pieces } = shown;
  const [trained, all] = [tokensIn(pieces.filter((piece) => piece.trained)), tokensIn(pieces)];
  return (
    <main class="training-text">
      <h1>{name}</h1>
      <p class="muted">
        Tokens of {model}, dialect {dialect}. Trained: {trained.toLocaleString('en')} of {all.toLocaleString('en')}{' '}
        tokens ({Math.round((100 * trained) / Math.max(1, all))} %).
      </p>
      <p class="legend">
        <mark>trained</mark> <span class="given">context</span>
      </p>
      <section class="text" aria-label="Training text">
        {pieces.map((piece, index) => (
          <PieceText key={index} piece={piece} />
        ))}
      </section>
    </main>
  );
}

function PieceText({ piece }: { readonly piece: Piece }): JSX.Element {
  if (!piece.trained) return <span class="given">{piece.text}</span>;
  return (
    <mark title={`${piece.tokens} trained tokens`}>
      <span class="hidden-text">[trained: </span>
      {piece.text}
      <span class="hidden-text"> end]</span>
    </mark>
  );
}

const tokensIn = (pieces: readonly Piece[]): number => pieces.reduce((sum, { tokens }) => sum + tokens, 0);
