import type { JSX } from 'preact';
import { Button } from '../parts/controls.ts';

/** Shows what to do next where there is no training run yet. */
export function EmptyView({ onTrain }: { readonly onTrain: (kind: 'sft' | 'grpo') => void }): JSX.Element {
  return (
    <main class="empty">
      <h1>No training run yet</h1>
      <p>
        Start with SFT: the model learns from successful recordings. Then train it with GRPO: it plays rollouts in your
        domain and learns from their reward. Each run appears here while it runs and stays here afterwards.
      </p>
      <div class="actions">
        <Button primary onPress={() => onTrain('sft')}>
          Train with SFT…
        </Button>
        <Button onPress={() => onTrain('grpo')}>Train with GRPO…</Button>
      </div>
    </main>
  );
}
