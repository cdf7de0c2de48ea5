import { Fault } from '../../engine/shell/files/fault.ts';

/** Returns why conversations cannot be imported. */
export function refusal(code: string, message: string): Fault {
  return new Fault({ who: 'environment', code: `import/${code}`, message });
}

/** Throws a `Fault` where a person has stopped an import. */
export function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted) throw stopped();
}

/** Returns that a person has stopped an import. */
export const stopped = (): Fault => refusal('stopped', 'stopped: nothing was written');
