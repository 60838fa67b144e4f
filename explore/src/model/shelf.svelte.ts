// A kept experiment that is looked at: what is asked of it, what came, and what is chosen on the page.
import { Cancelled, type Engine, type Head } from "../engine/engine";
import { axesOf, type Answer, type Axes } from "./kept";

const LOOK_MS = 700; // between two looks at an experiment that is still running

export class Shelf {
  readonly path: string;
  readonly name: string;
  readonly parts: { name: string; title: string }[];
  readonly question: string;
  readonly title: string;
  notes = $state.raw<string[]>([]);
  part = $state("");
  statistic = $state("");
  where = $state("");
  axes = $state.raw<Axes>({ across: "", down: "", each: "", held: {}, drawing: "map" });
  answer = $state.raw<Answer | null>(null);
  problem = $state<string | null>(null);
  /** The person has chosen axes, which stay when more comes. */
  private own = false;
  private abort: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly engine: Engine,
    head: Head,
  ) {
    this.path = head.path;
    this.name = head.name;
    this.parts = head.parts;
    this.title = head.title || head.name;
    this.question = head.question ?? "";
    this.notes = head.notes ?? [];
    this.part = this.parts[0]?.name ?? "";
  }

  /** Asks for the variants; where the experiment still runs, again and again. */
  async look(): Promise<void> {
    this.abort?.abort();
    clearTimeout(this.timer);
    const abort = new AbortController();
    this.abort = abort;
    const { path, part, statistic, where } = this;
    try {
      const { head } = await this.engine.request("trials", { path, part, statistic, where }, { signal: abort.signal });
      const before = this.answer?.parameters.map((p) => p.name).join();
      this.answer = head as Answer;
      this.statistic = head.statistic;
      this.notes = head.notes ?? this.notes;
      this.problem = null;
      if (!this.own || before !== this.answer.parameters.map((p) => p.name).join()) this.axes = axesOf(this.answer.parameters, this.answer.of);
    } catch (error) {
      if (error instanceof Cancelled) return;
      this.problem = error instanceof Error ? error.message : String(error);
    }
    if (this.answer?.ended === false) this.timer = setTimeout(() => void this.look(), LOOK_MS);
  }

  leave(): void {
    this.abort?.abort();
    clearTimeout(this.timer);
  }

  choosePart(part: string): void {
    this.part = part;
    this.statistic = this.where = "";
    this.own = false;
    void this.look();
  }

  chooseStatistic(statistic: string): void {
    this.statistic = statistic;
    void this.look();
  }

  filter(where: string): void {
    this.where = where;
    void this.look();
  }

  /** Puts a parameter on an axis; what was there goes where the parameter came from. */
  choose(change: Partial<Axes>): void {
    const next = { ...this.axes, ...change };
    for (const [axis, value] of Object.entries(change))
      for (const other of ["across", "down", "each"] as const)
        if (other !== axis && value !== "" && next[other] === value) next[other] = other === "across" ? this.axes[axis as "down"] || next.across : "";
    this.own = true;
    this.axes = next;
  }
}
