import { hostedName } from '../../core/domain/domain.ts';
import { runsInWorker } from '../../core/domain/tool.ts';
import type { JudgeAnswer } from '../../core/rollout/judgement.ts';
import type { Setting } from '../../core/rollout/rollout.ts';
import type { AgentReply, UserReply } from '../../core/seats/seat.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { randomStream } from '../../core/values/random.ts';
import { cancelled } from '../files/fault.ts';
import { setUpOf } from '../rollout/driver.ts';
import type { Ports } from '../rollout/ports.ts';
import { customResult, verifierCall } from './customVerifiers.ts';
import type { DomainCode } from './domainCode.ts';
import { ExternalCalls } from './externalCalls.ts';
import { modelFreeAgents, modelFreeUsers } from './modelFreeSeats.ts';
import type { ServedRollout } from './servedRollout.ts';
import type { Answer, Question } from './workerMessage.ts';

/** The parts of a worker that the ports of a rollout use. */
export type PortParts = {
  readonly setting: Setting;
  readonly code: DomainCode;
  /** Asks the supervisor. */
  readonly ask: (about: Question) => Promise<Answer>;
  /** Whether a person looks at the code with a debugger, who then sees the rows themselves. */
  readonly isInspected: () => boolean;
};

/** Returns the ports of a rollout: the domain's code and the seats without a model here, all else at the supervisor. */
export function portsOf(served: ServedRollout, { setting, code, ask, isInspected }: PortParts): Ports {
  const { rollout, seats } = served.start;
  const { domain } = setting;
  const external = new ExternalCalls(setting.world, ask);
  const gold = domain.hosted?.goldApart ? new ExternalCalls(setting.world, ask, 'gold') : null;
  const unlessCancelled =
    <Input extends unknown[], Output>(port: (...input: Input) => Output) =>
    (...input: Input): Output => {
      if (served.isCancelled) throw cancelled();
      return port(...input);
    };
  return {
    agent: unlessCancelled((view) =>
      seats.agent === 'remote' ? (ask({ type: 'agent' }) as Promise<AgentReply>) : modelFreeAgents[seats.agent](view),
    ),
    user: unlessCancelled((view) =>
      seats.user === 'remote' ? (ask({ type: 'user' }) as Promise<UserReply>) : modelFreeUsers[seats.user](view),
    ),
    callTool: unlessCancelled((tool, call, context) => {
      const values = call.arguments as JsonObject;
      if (tool.effect === 'write') external.forget();
      const observer = isInspected() ? null : served.observe(tool, values, context);
      return runsInWorker(tool)
        ? code.call(rollout, tool, values, context, observer)
        : external.call(tool, call, context);
    }),
    callGold: gold ? unlessCancelled((tool, call, context) => gold.call(tool, call, context)) : undefined,
    sync: unlessCancelled((context) =>
      domain.hosted?.sync && !code.hasSync
        ? external.sync(domain.hosted.name, context.world)
        : code.sync(rollout, context),
    ),
    setUp: unlessCancelled((task, { world }) => {
      const data = setUpOf(domain, task);
      const name = hostedName(domain.file);
      if (name === null || data === undefined) return Promise.resolve([]);
      return external.setUp(name, data, world);
    }),
    wait: (ms) => served.pause(ms),
    readSource: unlessCancelled(async ({ assertion, source }, state) => {
      const isKnown = served.start.recorded?.includes(source) ?? false;
      if (assertion.call && !isKnown) return external.saidBy(assertion.in, assertion.call, state.world);
      const answer = await ask({ type: 'source', source });
      return (answer as { readonly state: Json }).state;
    }),
    judge: unlessCancelled(() => ask({ type: 'judge' }) as Promise<JudgeAnswer>),
    conclude: (evidence) => {
      served.evidence = evidence;
    },
    verifyBy: unlessCancelled(async (name, evidence) => {
      const { seed, task, trial } = evidence.state.started;
      const random = randomStream(seed, task.id, trial, `verifier:${name}`);
      const { tool, values, context } = verifierCall(name, evidence, { random, step: evidence.state.next });
      return customResult(name, await code.call(rollout, tool, values, context));
    }),
  };
}
