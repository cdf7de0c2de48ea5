/** The profile that a model trains with where nobody says one: `tiny` has nothing to learn, and only shows that all works. */
export function profileFor(model: unknown): 'cpu' | 'trial' {
  return model === 'tiny' ? 'trial' : 'cpu';
}
