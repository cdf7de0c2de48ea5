/** The longest wait for the end of a press, in milliseconds: a press that ends outside the page is not reported. */
const longestPressMs = 600;

let isPressed = false;
let waiting: (() => void)[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

function release(): void {
  clearTimeout(timer);
  isPressed = false;
  const due = waiting;
  waiting = [];
  for (const each of due) each();
}

window.addEventListener('pointerdown', () => {
  isPressed = true;
  clearTimeout(timer);
  timer = setTimeout(release, longestPressMs);
});
// The click itself comes first.
for (const end of ['pointerup', 'pointercancel'] as const) window.addEventListener(end, () => setTimeout(release));

/**
 * Does something at once, or behind the press that is under way. A press takes the focus from a field, which changes the
 * document; were its answer drawn before the button is let go, what moves would be pressed in its place.
 */
export function afterPress(act: () => void): void {
  if (isPressed) waiting.push(act);
  else act();
}
