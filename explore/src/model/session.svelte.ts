// What the page knows and does: the scenario, its run, the picture before, the view.
import { Cancelled, EngineError, type Engine, type Head } from "../engine/engine";
import { controls, type Control, type Template } from "./controls";
import { History } from "./history.svelte";
import { pack } from "./link";
import { budget, fetchLines, fetchParts, type Picture, type Range } from "./picture";
import { parse } from "./quantity";

export type Trouble = { line?: number; column?: number; path?: string; message: string };
export type Mark = { at_ns: number; kind: string; flow?: number | null; port?: number | null; text: string };
export type Why = { flow: number; spans: { from_ns: number; to_ns: number; reason: string }[] };
type State = { text: string; seed: number | null };
export type Told = { templates: Template[]; schema: Head; version: string; tables: Head; limits: Head };

const seconds = (text: string | undefined, otherwise: number) => {
  const q = text ? parse(text) : null;
  return q && q.kind === "time" ? q.value * 1e9 : otherwise;
};

export class Session {
  readonly history: History<State>;
  told = $state.raw<Told | null>(null);
  given = $state.raw<Record<string, string>>({});
  values = $state.raw<unknown>(null);
  resolved = $state("");
  errors = $state.raw<Trouble[]>([]);
  notes = $state.raw<string[]>([]);
  /** The engine is lost: one sentence. */
  lost = $state<string | null>(null);
  /** What went wrong with the last run, if it has no line. */
  problem = $state<string | null>(null);

  picture = $state.raw<Picture | null>(null);
  ghost = $state.raw<Picture | null>(null);
  /** A setting that is kept to compare with; it takes the place of the ghost. */
  pinned = $state.raw<Picture | null>(null);
  marks = $state.raw<Mark[]>([]);
  why = $state.raw<Why[]>([]);

  view = $state.raw<Range>({ from_ns: 0, to_ns: 1 });
  cursor_ns = $state<number | null>(null);
  flow = $state<number | null>(null);

  running = $state(false);
  share = $state(0);
  width = 700;
  name = $state("");

  /** For tests and for docs/performance.md: when each change came and when it was drawn, in ms of this page. */
  readonly timings: { asked: number; first: number; whole: number; engine: number }[] = [];
  private readonly waiting = new Map<string, { value: string | null; gesture: string | null }>();
  private editing = false;
  private abort: AbortController | null = null;
  private settling: ReturnType<typeof setTimeout> | undefined;
  private refining: ReturnType<typeof setTimeout> | undefined;
  private started = 0;

  constructor(
    readonly engine: Engine,
    state: State,
  ) {
    this.history = new History(state);
    engine.onState((problem) => {
      this.lost = problem;
      if (problem === null && this.told) void this.run(performance.now());
    });
  }

  get text(): string {
    return this.history.now.text;
  }
  get controls(): Control[] {
    return this.told ? controls(this.told.templates, this.given, this.values) : [];
  }
  get before(): Picture | null {
    return this.pinned ?? this.ghost;
  }

  async open(): Promise<void> {
    if (!this.told) {
      const { head } = await this.engine.request("describe");
      this.told = { templates: head.controls, schema: head.schema, version: head.version, tables: head.tables, limits: head.limits };
    }
    const checked = this.check();
    const ran = this.run(performance.now());
    await Promise.all([checked, ran]);
  }

  /** Sets one key of the scenario; changes that come while an edit is under way are taken together. */
  set(path: string, value: string | null, gesture: string | null = null): void {
    this.waiting.set(path, { value, gesture });
    this.started ||= performance.now();
    if (!this.editing) void this.edit();
  }

  private async edit(): Promise<void> {
    this.editing = true;
    try {
      while (this.waiting.size > 0) {
        const began = this.started;
        this.started = 0;
        let { text, seed } = this.history.now;
        let step: string | null = null;
        for (const [path, change] of [...this.waiting]) {
          this.waiting.delete(path);
          step = change.gesture;
          if (path === "seed") seed = change.value === null ? null : Number(change.value);
          else {
            const { head } = await this.engine.request("edit", { text, path, value: change.value });
            if (!head.ok && head.errors?.length) {
              this.errors = head.errors;
              if (!head.text || head.text === text) continue;
            }
            text = head.text as string;
          }
          const given = { ...this.given };
          if (change.value === null) delete given[path];
          else given[path] = change.value;
          this.given = given;
        }
        this.become({ text, seed }, step, began);
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.editing = false;
    }
  }

  /** A text as a person has typed it. */
  async type(text: string, gesture: string | null = "typing"): Promise<void> {
    if (text === this.text) return;
    const begins = this.history.set({ text, seed: this.history.now.seed }, gesture);
    const began = performance.now();
    if (await this.check()) {
      if (begins) this.keep();
      void this.run(began);
    }
  }

  private become(state: State, gesture: string | null, began: number): void {
    if (state.text === this.text && state.seed === this.history.now.seed) return;
    if (this.history.set(state, gesture)) this.keep();
    void this.run(began);
  }

  /** What is drawn now becomes the ghost. */
  private keep(): void {
    if (this.picture && this.picture.share >= 1) this.ghost = this.picture;
  }

  private walk(moved: boolean): void {
    if (!moved) return;
    this.keep();
    void this.check();
    void this.run(performance.now());
  }
  undo(): void {
    this.walk(this.history.undo());
  }
  redo(): void {
    this.walk(this.history.redo());
  }
  pin(): void {
    this.pinned = this.pinned ? null : this.picture;
  }
  stop(): void {
    this.abort?.abort();
    this.running = false;
  }

  /** Asks whether the text is a scenario; returns whether it is. */
  async check(): Promise<boolean> {
    const text = this.text;
    try {
      const { head } = await this.engine.request("check", { text });
      if (text !== this.text) return false;
      this.errors = head.errors ?? [];
      this.notes = head.notes ?? [];
      if (head.ok) {
        this.given = head.given ?? {};
        this.values = head.values;
        this.resolved = head.resolved ?? "";
      }
      return Boolean(head.ok);
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  private fail(error: unknown): void {
    if (error instanceof Cancelled) return;
    if (this.lost) return;
    if (error instanceof EngineError && error.head.line) this.errors = [error.head as Trouble];
    else this.problem = error instanceof Error ? error.message : String(error);
  }

  /** Runs the scenario anew; a run under way is taken back. */
  async run(began: number): Promise<void> {
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    const { text, seed } = this.history.now;
    const timing = { asked: began, first: 0, whole: 0, engine: 0 };
    this.running = true;
    this.share = 0;
    let drawing = false;
    const onPiece = ({ head }: { head: Head }) => {
      this.share = head.share;
      if (!(head.share > 0) || drawing || abort.signal.aborted) return;
      drawing = true;
      void this.draw(text, head, timing, abort.signal)
        .catch(() => undefined)
        .finally(() => (drawing = false));
    };
    try {
      const { head } = await this.engine.request("run", { text, ...(seed === null ? {} : { seed }) }, { signal: abort.signal, onPiece });
      await this.draw(text, { ...head, share: 1 }, timing, abort.signal);
      this.errors = [];
      this.problem = null;
      timing.whole = performance.now();
      timing.engine = 1e3 * head.wall_s;
      this.timings.push(timing);
      this.running = false;
      this.settle();
      await this.notice(abort.signal);
    } catch (error) {
      this.fail(error);
    } finally {
      if (this.abort === abort) this.running = false;
    }
  }

  private async draw(text: string, head: Head, timing: { first: number }, signal: AbortSignal): Promise<void> {
    const handle = head.handle as string;
    const { flows, ports, asked } = await fetchParts(this.engine, handle);
    if (signal.aborted) throw new Cancelled();
    const end = head.summary ? 1e9 * head.summary.simulated_s : seconds(this.given.duration, head.at_ns);
    const whole = { from_ns: 0, to_ns: end };
    const before = this.picture?.whole;
    const over = flows.length && flows.every((f) => f.end_ns !== null) ? 1.05 * Math.max(...flows.map((f) => f.end_ns!)) : end;
    const zoomed = before && (this.view.from_ns > before.from_ns || this.view.to_ns < before.to_ns) && this.view.from_ns < end;
    const view = zoomed ? { from_ns: this.view.from_ns, to_ns: Math.min(this.view.to_ns, end) } : { from_ns: 0, to_ns: before ? end : Math.min(over, end) };
    const lines = await fetchLines(this.engine, handle, asked, view, budget(asked.length, this.width), signal);
    if (signal.aborted) throw new Cancelled();
    this.view = view;
    this.picture = {
      handle, text, flows, ports, lines, whole, shown: view,
      seed: head.seed ?? this.picture?.seed ?? 1,
      warmup_ns: seconds(this.given.warmup, 0),
      summary: head.summary ?? null,
      answer: head.answer ?? null,
      wall_s: head.wall_s ?? 0,
      share: head.share,
    };
    if (this.flow === null || !flows.some((f) => f.id === this.flow)) this.flow = flows[0]?.id ?? null;
    timing.first ||= performance.now();
  }

  /** What is slower than the lines: events in words and the reasons, for the interval in view. */
  private async notice(signal?: AbortSignal): Promise<void> {
    const picture = this.picture;
    if (!picture || picture.share < 1) return;
    const ask = signal ? { signal } : {};
    const flows = picture.flows.filter((f) => f.protocol === "tcp").slice(0, 12);
    const [events, ...why] = await Promise.all([
      this.engine.request("events", { handle: picture.handle, ...this.view, limit: 200 }, ask),
      ...flows.map((f) => this.engine.request("why", { handle: picture.handle, flow: f.id }, ask)),
    ]);
    if (this.picture?.handle !== picture.handle) return;
    this.marks = events!.head.events;
    this.why = why.map((reply, i) => ({ flow: flows[i]!.id, spans: reply.head.spans }));
  }

  /** The gesture is over: the address keeps the scenario, and its values are looked up anew. */
  private settle(): void {
    clearTimeout(this.settling);
    this.settling = setTimeout(async () => {
      await this.check();
      const packed = await pack(this.history.now);
      history.replaceState(null, "", `#${packed}`);
    }, 250);
  }

  /** Shows another interval; new data for it are asked for a moment later. */
  zoom(range: Range | null): void {
    const whole = this.picture?.whole ?? { from_ns: 0, to_ns: 1e9 };
    const least = Math.max(1000, (whole.to_ns - whole.from_ns) / 1e7);
    let { from_ns, to_ns } = range ?? whole;
    const width = Math.min(Math.max(to_ns - from_ns, least), whole.to_ns - whole.from_ns);
    from_ns = Math.min(Math.max(from_ns, whole.from_ns), whole.to_ns - width);
    to_ns = from_ns + width;
    this.view = { from_ns, to_ns };
    clearTimeout(this.refining);
    this.refining = setTimeout(() => void this.refine().catch((error: unknown) => this.fail(error)), 40);
  }

  private async refine(): Promise<void> {
    const view = this.view;
    const again = async (picture: Picture | null): Promise<Picture | null> => {
      if (!picture) return null;
      const lines = await fetchLines(this.engine, picture.handle, picture.lines, view, budget(picture.lines.length, this.width));
      return { ...picture, lines, shown: view };
    };
    const [picture, before] = [this.picture, this.before];
    const fresh = await again(picture);
    if (this.picture === picture) this.picture = fresh;
    const freshBefore = await again(before).catch(() => before);
    if (this.pinned === before) this.pinned = freshBefore;
    else if (this.ghost === before) this.ghost = freshBefore;
    await this.notice();
  }
}
