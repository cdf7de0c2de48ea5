/** The oldest Node that has what workers need: synchronous module hooks. package.json says the same. */
export const oldestNode = '22.15';

/** Why this Node can't run Rehearsal, in one sentence; null when it can. */
export function runtimeObstacle(version = process.versions.node): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return null;
  return `rehearsal needs Node ${oldestNode} or newer, and this is Node ${version}. Install a newer one (https://nodejs.org)`;
}
