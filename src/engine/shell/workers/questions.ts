import { cancelled, type Fault } from '../files/fault.ts';
import type { Answer, Question } from './workerMessage.ts';

type Waiting = {
  readonly rollout: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (fault: Fault) => void;
};

type Send = (question: number, rollout: number, about: Question) => void;

/** The questions to the supervisor that wait for an answer. */
export class Questions {
  readonly #send: Send;
  readonly #waiting = new Map<number, Waiting>();
  #next = 1;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Rejects with a `Fault` where the supervisor refuses, and where the rollout is cancelled first. */
  ask(rollout: number, about: Question): Promise<Answer> {
    const question = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(question, { rollout, resolve, reject });
      this.#send(question, rollout, about);
    });
  }

  answer(question: number, answer: Answer): void {
    this.#take(question)?.resolve(answer);
  }

  refuse(question: number, fault: Fault): void {
    this.#take(question)?.reject(fault);
  }

  cancel(rollout: number): void {
    for (const [question, waiting] of this.#waiting)
      if (waiting.rollout === rollout) this.refuse(question, cancelled());
  }

  #take(question: number): Waiting | undefined {
    const waiting = this.#waiting.get(question);
    this.#waiting.delete(question);
    return waiting;
  }
}
