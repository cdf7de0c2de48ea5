// Without a listener, Node opens its inspector for every process of this user that sends the signal. It is there before
// anything else is read, and before anything of a domain can run.
process.on('SIGUSR1', () => undefined);
await import('./start.ts');

export {};
