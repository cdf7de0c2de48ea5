/** Returns the profile that a model alone decides: `tiny` has nothing to learn. The target's device decides for others. */
export function profileFor(model: unknown): 'trial' | undefined {
  return model === 'tiny' ? 'trial' : undefined;
}
