import type { DebugProtocol } from '@vscode/debugprotocol';
import { RehearsalSession } from '../../src/cli/dap/adapter.ts';
import { type Engine, ownEngine } from '../../src/cli/dap/rollout/engine.ts';
import type { LoadedDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import type { RolloutClosed } from '../../src/engine/shell/liveRollout.ts';
import { openSupervisor, type Supervisor } from '../../src/engine/shell/supervisor.ts';
import type { startWorkerEarly } from '../../src/engine/shell/workers/workerChild.ts';
import { type Message, ProtocolClient } from './debugClient.ts';

/** Reads domains once and keeps workers open, for many sessions in one process. */
export class SharedEngine implements Engine {
  readonly #domains = new Map<string, LoadedDomain>();
  readonly #supervisors = new Map<LoadedDomain, Promise<Supervisor>>();
  /** Rollouts that have not closed yet. */
  readonly live = new Set<Promise<RolloutClosed>>();

  openDomain: Engine['openDomain'] = (folder) => {
    const known = this.#domains.get(folder) ?? ownEngine.openDomain(folder);
    this.#domains.set(folder, known);
    return known;
  };

  /** A session that closes its supervisor does not close it for the others. */
  openSupervisor: Engine['openSupervisor'] = async (domain, options) => {
    const opening = this.#supervisors.get(domain) ?? openSupervisor(domain, options);
    this.#supervisors.set(domain, opening);
    const supervisor = await opening;
    return {
      domain: supervisor.domain,
      loaded: supervisor.loaded,
      start: (request, onEvents) => {
        const live = supervisor.start(request, onEvents);
        this.live.add(live.closed);
        const forget = () => this.live.delete(live.closed);
        live.closed.then(forget, forget);
        return live;
      },
      close: () => Promise.resolve(),
    };
  };

  startWorkerEarly: typeof startWorkerEarly = () => () => undefined;

  async close(): Promise<void> {
    for (const opening of this.#supervisors.values()) await (await opening).close();
  }
}

/** A debug client whose adapter runs in this process. Messages sent at once arrive together, as on a stream. */
export class InProcessClient extends ProtocolClient {
  readonly #session: RehearsalSession;
  #sent: Message[] = [];

  constructor(engine: Engine) {
    super();
    this.#session = new RehearsalSession({ engine });
    this.#session.setRunAsServer(true);
    this.#session.onDidSendMessage((message) => this.read(message as Message));
  }

  /** Sends any value, which need not be a message of the protocol. */
  protected override write(message: Message): void {
    if (this.#sent.length === 0)
      setImmediate(() => {
        for (const each of this.#sent.splice(0)) this.#session.handleMessage(each as DebugProtocol.ProtocolMessage);
      });
    this.#sent.push(message);
  }

  override close(): void {
    this.#session.shutdown();
  }
}
