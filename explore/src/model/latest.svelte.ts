// What an engine answers to a question that changes while it answers, such as intervals of runs that come one after the other.
import { untrack } from "svelte";

/** Asks one question at a time, and then the newest. An answer stays, beside its own question, until the next one comes. */
export class Latest<Q, A> {
  /** The last answer and its question. Who shows it takes all that it says from here. */
  now = $state.raw<{ of: Q; found: A } | null>(null);
  problem = $state<string | null>(null);
  /** A newer question than the one of `now` is under way. */
  busy = $state(false);
  private next: { of: Q } | null = null;

  constructor(private readonly answer: (of: Q) => Promise<A>) {}

  ask(of: Q): void {
    this.next = { of };
    if (!untrack(() => this.busy)) void this.work();
  }

  private async work(): Promise<void> {
    this.busy = true;
    this.problem = null;
    try {
      for (let asked = this.next; asked; asked = this.next) {
        this.next = null;
        this.now = { of: asked.of, found: await this.answer(asked.of) };
      }
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.busy = false;
    }
  }
}
