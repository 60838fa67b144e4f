// Congestion controls beside each other: a run for each pair, on the bottleneck of `elephan compare` or on the scenario of the page.
import PAIR from "../../../python/elephan/experiment/compare/pair.toml?raw";
import { Cancelled, EngineError, type Head } from "../engine/engine";
import type { Kind, Sample } from "./chance";
import { atOnce, seedsOf, spread } from "./many.svelte";
import { parse, plain, show } from "./quantity";
import type { Session } from "./session.svelte";

/** What one run says of its first flow `a` and its second `b`. */
export type Beside = { a_bps: number; b_bps: number; queue_bytes: number; loss: number };
export type Figure = { id: string; name: string; of: (run: Beside) => number; write: (v: number) => string; kind: Kind };
export const FIGURES: Figure[] = [
  { id: "share", name: "share of the row", of: (r) => r.a_bps / (r.a_bps + r.b_bps), write: (v) => show(v, "%"), kind: { kind: "share" } },
  { id: "jain", name: "Jain's index", of: (r) => (r.a_bps + r.b_bps) ** 2 / (2 * (r.a_bps ** 2 + r.b_bps ** 2)), write: (v) => plain(v), kind: { kind: "index", flows: 2 } },
  { id: "goodput", name: "goodput of the row", of: (r) => r.a_bps, write: (v) => show(v, "b/s"), kind: { kind: "amount" } },
  { id: "both", name: "goodput of both", of: (r) => r.a_bps + r.b_bps, write: (v) => show(v, "b/s"), kind: { kind: "amount" } },
  { id: "queue", name: "mean queue", of: (r) => r.queue_bytes, write: (v) => show(v, "B"), kind: { kind: "amount" } },
  { id: "loss", name: "loss", of: (r) => r.loss, write: (v) => show(v, "%"), kind: { kind: "share" } },
];

export type Bottleneck = { rate: string; rtt: string; buffer: string };
/** The lengths of the quick runs of `elephan compare`. */
const LENGTH = { duration: "35 s", warmup: "10 s" };
/** The share of the bottleneck that other traffic has, at random. */
const BACKGROUND = 0.01;

const ps = (seconds: number) => `${Math.round(seconds * 1e12)} ps`;

/** Returns what the bottleneck sets in the scenario of pairs, as `elephan compare` does; or a sentence that says what is wrong. */
export function settings({ rate, rtt, buffer }: Bottleneck): Record<string, string> | string {
  const [r, t, b] = [parse(rate), parse(rtt), parse(buffer)];
  if (r?.kind !== "rate" || !(r.value > 0)) return `${rate || "nothing"} is not a rate: write it like 50 Mbps.`;
  if (t?.kind !== "time" || !(t.value > 0) || t.value > 10) return `${rtt || "nothing"} is not a round-trip time up to 10 s: write it like 40 ms.`;
  if (!b || !["size", "bdp"].includes(b.kind) || !(b.value > 0)) return `${buffer || "nothing"} is not a buffer: write it like 250 KB or 1 bdp.`;
  const bytes = Math.round(b.kind === "bdp" ? (b.value * r.value * t.value) / 8 : b.value);
  if (bytes < 1) return "This buffer is less than a byte.";
  return {
    ...LENGTH, "template.rate": `${r.value} bps`, "template.access_rate": `${Math.max(1e10, 10 * r.value)} bps`, "template.delay": ps(t.value / 4),
    "template.access_delay": ps(t.value / 8), "template.queue.limit": `${bytes} B`, "traffic.others.rate": `${r.value * BACKGROUND} bps`,
  };
}

export type Entry = { path: string; name: string };
type Pair = { text: string; seeds: number[]; runs: Beside[]; wrong: string };
const key = (a: string, b: string) => `${a} + ${b}`;

export class Pairs {
  /** All congestion controls that there are, and those that are chosen. */
  all = $state.raw<string[]>([]);
  chosen = $state.raw<string[]>(["reno", "cubic", "bbr"]);
  bottleneck = $state<Bottleneck>({ rate: "50 Mbps", rtt: "40 ms", buffer: "1 bdp" });
  /** On the scenario of the page, whose entries of traffic these two are; else on the bottleneck. */
  own = $state(false);
  first = $state("");
  second = $state("");
  seeds = $state(1);
  running = $state(false);
  problem = $state<string | null>(null);
  pairs = $state.raw<Map<string, Pair>>(new Map());
  /** What the matrix that is shown is of. */
  labels = $state.raw<string[]>([]);
  where = $state("");
  wanted = $state(0);
  /** The seeds of each pair. */
  each = $state(1);
  private mirrored = true;
  private abort: AbortController | null = null;

  constructor(private readonly session: Session) {}

  /** Asks which congestion controls there are. */
  async open(): Promise<void> {
    if (this.all.length) return;
    const { head } = await this.session.engine.request("check", { text: PAIR });
    const found = (head.controls as Head[]).find((c) => c.path === "traffic[0].congestion_control.kind");
    this.all = found?.choices ?? [];
    this.chosen = this.chosen.filter((name) => this.all.includes(name));
  }

  toggle(name: string): void {
    this.chosen = this.chosen.includes(name) ? this.chosen.filter((one) => one !== name) : this.all.filter((one) => one === name || this.chosen.includes(one));
  }

  stop(): void {
    this.abort?.abort();
    this.running = false;
  }

  get done(): number {
    return [...this.pairs.values()].reduce((sum, p) => sum + (p.wrong ? this.each : p.runs.length), 0);
  }

  async run(): Promise<void> {
    this.stop();
    const abort = new AbortController();
    this.abort = abort;
    this.running = true;
    this.problem = null;
    try {
      await this.fill(abort.signal);
    } catch (error) {
      if (!(error instanceof Cancelled)) this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      if (this.abort === abort) this.running = false;
    }
  }

  private async fill(signal: AbortSignal): Promise<void> {
    const { session, own } = this;
    const { engine } = session;
    const set = own ? {} : settings(this.bottleneck);
    if (typeof set === "string") throw new Error(set);
    const [a, b] = own ? [this.first, this.second] : ["traffic[0]", "traffic[1]"];
    let base = own ? session.text : PAIR;
    for (const [path, value] of Object.entries(set)) base = (await engine.request("edit", { text: base, path, value, controls: false })).head.text;
    const { head: checked } = await engine.request("check", { text: base, controls: false });
    if (!checked.ok) throw new Error(checked.errors[0]?.message ?? "This is no scenario.");
    const named = [a, b].map((path) => checked.values.traffic[Number(/\d+/.exec(path)![0])].name as string);
    this.labels = this.chosen;
    this.mirrored = !own;
    this.where = own ? `${named[0]} beside ${named[1]} in this scenario` : `two flows at ${this.bottleneck.rate}, ${this.bottleneck.rtt}, ${this.bottleneck.buffer}`;
    this.pairs = new Map();
    const start = own ? (session.picture?.seed ?? 1) : 1;
    const both = this.labels.flatMap((one, i) => (own ? this.labels : this.labels.slice(i)).map((two) => [one, two] as const));
    this.each = seedsOf(this.seeds);
    const jobs = Array.from({ length: this.each }, (_, s) => both.map(([one, two]) => ({ one, two, seed: start + s }))).flat();
    this.wanted = jobs.length;
    await spread(jobs, atOnce(session), async ({ one, two, seed }) => {
      const known = this.pairs.get(key(one, two)) ?? { text: "", seeds: [], runs: [], wrong: "" };
      if (known.wrong) return;
      let { text } = known;
      if (!text) {
        text = base;
        for (const [path, value] of [[`${a}.congestion_control`, one], [`${b}.congestion_control`, two]])
          text = (await engine.request("edit", { text, path, value, controls: false })).head.text;
      }
      const put = (change: Partial<Pair>) => (this.pairs = new Map(this.pairs).set(key(one, two), { ...(this.pairs.get(key(one, two)) ?? known), text, ...change }));
      try {
        const { head } = await engine.request("run", { text, seed }, { signal });
        const flows = (await engine.request("flows", { handle: head.handle })).head.value as { traffic: string; goodput_bps: number }[];
        void engine.request("close", { handle: head.handle }).catch(() => undefined);
        const of = (name: string) => flows.filter((f) => f.traffic === name).reduce((sum, f) => sum + f.goodput_bps, 0);
        const neck = head.summary.bottleneck ?? {};
        const found = { a_bps: of(named[0]!), b_bps: of(named[1]!), queue_bytes: neck.queue_mean_bytes ?? NaN, loss: neck.loss_rate ?? NaN };
        const now = this.pairs.get(key(one, two)) ?? known;
        put({ runs: [...now.runs, found], seeds: [...now.seeds, seed] });
      } catch (error) {
        if (!(error instanceof EngineError) || signal.aborted) throw error;
        put({ wrong: error.message });
      }
    });
  }

  /** The pair of a row and a column; on the bottleneck a pair ran once, and is seen from both sides. */
  private pair(row: string, column: string): { pair: Pair | undefined; turned: boolean } {
    const straight = this.pairs.get(key(row, column));
    return straight || !this.mirrored ? { pair: straight, turned: false } : { pair: this.pairs.get(key(column, row)), turned: true };
  }

  /** The values of a figure in a cell, one for each seed. */
  sample(row: string, column: string, figure: Figure): Sample {
    const { pair, turned } = this.pair(row, column);
    return { of: figure.kind, rows: [(pair?.runs ?? []).map((r) => figure.of(turned ? { ...r, a_bps: r.b_bps, b_bps: r.a_bps } : r))] };
  }
  wrong(row: string, column: string): string {
    return this.pair(row, column).pair?.wrong ?? "";
  }
  /** The scenario of a cell's first run. */
  async text(row: string, column: string): Promise<string> {
    const { pair } = this.pair(row, column);
    if (!pair) return "";
    if (!pair.seeds.length) return pair.text;
    return (await this.session.engine.request("edit", { text: pair.text, path: "seed", value: String(Math.min(...pair.seeds)), controls: false })).head.text;
  }
}
