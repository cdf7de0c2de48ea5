import { Fault } from '../../../engine/shell/files/fault.ts';
import type { SshAddress } from './address.ts';

/** The command that a person would type to reach a target. */
export function sshCommand({ host, port }: SshAddress): string {
  return port === undefined ? `ssh ${host}` : `ssh -p ${port} ${host}`;
}

type Reading = { readonly words: RegExp; readonly code: string; readonly message: (address: SshAddress) => string };

/** Error messages of ssh, and what the user can do about each. The first match counts. */
const readings: readonly Reading[] = [
  {
    words: /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    code: 'ssh/host-key-changed',
    message: ({ host }) =>
      `the host key of ${host} has changed: someone may be intercepting the connection. Ask its administrator; if the machine was set up again, remove the old key with ssh-keygen -R and connect manually once`,
  },
  {
    words: /Host key verification failed|host key is known for/i,
    code: 'ssh/host-key-unknown',
    message: (address) =>
      `the host key of ${address.host} is not known here, so nothing was sent. Connect manually once (${sshCommand(address)}), compare the fingerprint it shows with the machine's, and run this again`,
  },
  {
    words: /Permission denied|Too many authentication failures|No supported authentication methods/i,
    code: 'ssh/key-refused',
    message: (address) =>
      `${address.host} accepts none of your keys. Give it your public key (ssh-copy-id), or load the right one (ssh-add), until ${sshCommand(address)} asks for no password`,
  },
  {
    words: /Could not resolve hostname|Name or service not known|nodename nor servname/i,
    code: 'ssh/unknown-host',
    message: ({ host }) => `there is no host ${host}: check its name, and the network or VPN that it is in`,
  },
  {
    words:
      /Connection refused|timed out|No route to host|unreachable|Connection closed|Connection reset|not responding|Broken pipe|closed by remote/i,
    code: 'ssh/unreachable',
    message: (address) =>
      `${address.host} can't be reached: check that it is on and that ${sshCommand(address)} succeeds`,
  },
];

/**
 * Returns what went wrong with a connection.
 * @param words what ssh said on its standard error
 */
export function sshFault(address: SshAddress, words: string): Fault {
  const reading = readings.find((each) => each.words.test(words));
  const last = words.trim().split('\n').at(-1)?.trim() || 'it exited without output';
  const message = reading
    ? `${reading.message(address)} (ssh says: ${last})`
    : `the connection to ${address.host} failed: ${last}`;
  return new Fault({ who: 'infrastructure', code: reading?.code ?? 'ssh/failed', message });
}
