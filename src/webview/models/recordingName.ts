/** Returns the name of a recording: that of its file without the folder and the ending. */
export function nameOf(path: string): string {
  return (path.split(/[\\/]/).at(-1) ?? '').replace(/\.traj\.jsonl$/, '');
}
