// Runs in number: seeds of one or two settings, points of a sweep. Each is a plain `run`, a few at a time.
import { Cancelled, type Head } from "../engine/engine";
import { onGrid } from "./chance";
import { ALL, type Wanted } from "./panels";
import { fetchLines, fetchParts, type Line } from "./picture";
import type { Session } from "./session.svelte";

export const GRID = 240;
export type Trial = { setting: number; seed: number; summary: Head; grid: Map<string, Float64Array> };
/** Returns which line of a run this is, in whatever run of the scenario. */
export const lineKey = (line: Pick<Wanted, "panel" | "role" | "name">) => `${line.panel}\t${line.role}\t${line.name}`;
/** The goodput of all flows together. */
export const TOTAL = lineKey({ panel: "goodput", role: "total", name: ALL });

/** The most seeds of a point of a sweep, or of a pair. */
export const MOST_SEEDS = 30;
/** Returns how many seeds a person has asked for, at least one. */
export const seedsOf = (asked: number): number => Math.max(1, Math.min(MOST_SEEDS, Math.round(asked) || 1));

/** Does jobs, a few at a time, in their order; stops at the first error. */
export async function spread<T>(jobs: T[], at_once: number, work: (job: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const hand = async () => {
    while (next < jobs.length) {
      const index = next++;
      await work(jobs[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: at_once }, hand));
}

export const atOnce = (session: Session) => (session.engine.kind === "native" ? 2 : 1);

/** Seeds of the scenario, and of the kept one with the same seeds. */
export class Seeds {
  /** Of the seeds that were asked for last. */
  trials = $state.raw<Trial[]>([]);
  /** Of all seeds that ran. */
  private ran: Trial[] = [];
  shapes = $state.raw<Map<string, Line>>(new Map());
  running = $state(false);
  wanted = $state(0);
  problem = $state<string | null>(null);
  /** The texts that the trials are of. */
  texts = $state.raw<string[]>([]);
  end_ns = $state(1);
  private abort: AbortController | null = null;

  constructor(private readonly session: Session) {}

  stop(): void {
    this.abort?.abort();
    this.running = false;
  }

  async run(n: number): Promise<void> {
    this.stop();
    const abort = new AbortController();
    this.abort = abort;
    const { session } = this;
    const texts = [session.text, ...(session.pinned && session.pinned.text !== session.text ? [session.pinned.text] : [])];
    const goes_on = texts.length === this.texts.length && texts.every((t, i) => t === this.texts[i]);
    if (!goes_on) {
      this.ran = [];
      this.shapes = new Map();
    }
    this.texts = texts;
    this.wanted = n;
    this.running = true;
    this.problem = null;
    const first = session.picture?.seed ?? 1;
    this.trials = this.ran.filter((t) => t.seed >= first && t.seed < first + n);
    const known = new Set(this.trials.map((t) => `${t.setting} ${t.seed}`));
    const jobs = Array.from({ length: n }, (_, i) => texts.map((text, setting) => ({ text, setting, seed: first + i })))
      .flat()
      .filter((job) => !known.has(`${job.setting} ${job.seed}`));
    try {
      await spread(jobs, atOnce(session), (job) => this.one(job, abort.signal));
    } catch (error) {
      if (!(error instanceof Cancelled)) this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      if (this.abort === abort) this.running = false;
    }
  }

  private async one(job: { text: string; setting: number; seed: number }, signal: AbortSignal): Promise<void> {
    const { engine } = this.session;
    const { head } = await engine.request("run", { text: job.text, seed: job.seed }, { signal });
    const { asked } = await fetchParts(engine, head.handle);
    const end = head.plan.duration_ns as number;
    const own = asked.filter((w) => w.role === "main" || w.role === "total");
    const lines = await fetchLines(engine, head.handle, own, { from_ns: 0, to_ns: end }, 4 * GRID, signal);
    void engine.request("close", { handle: head.handle }).catch(() => undefined);
    const grid = new Map<string, Float64Array>();
    const shapes = new Map(this.shapes);
    for (const line of lines) {
      const key = lineKey(line);
      grid.set(key, onGrid(line, 0, end, GRID));
      if (!shapes.has(key)) shapes.set(key, line);
    }
    this.shapes = shapes;
    this.end_ns = end;
    const trial = { setting: job.setting, seed: job.seed, summary: head.summary, grid };
    this.ran.push(trial);
    this.trials = [...this.trials, trial];
  }
}
