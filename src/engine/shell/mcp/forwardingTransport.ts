import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { withNumericId } from './numericId.ts';

export type Received = Parameters<NonNullable<Transport['onmessage']>>;
export type Sent = Parameters<Transport['send']>;

/** A transport over another one. A subclass sees the messages in both directions. */
export class ForwardingTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (...received: Received) => void;
  readonly #inner: Transport;

  constructor(inner: Transport) {
    this.#inner = inner;
    inner.onclose = () => this.onclose?.();
    inner.onerror = (error) => this.onerror?.(error);
    inner.onmessage = (...received: Received) => this.received(...received);
  }

  protected received(...received: Received): void {
    this.onmessage?.(...received);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(...[message, options]: Sent): Promise<void> {
    return this.#inner.send(withNumericId(message), options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }
}
