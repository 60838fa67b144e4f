// What the page knows and does: the scenario, its run, the picture before, the view.
import { Cancelled, EngineError, type Engine, type Head, type Reply } from "../engine/engine";
import { complete, fitting, type Control } from "./controls";
import { History } from "./history.svelte";
import { pack } from "./link";
import { ranked, wantedOfCapture, type Flow } from "./panels";
import { asLines, budget, fetchLines, fetchParts, type Line, type Parts, type Picture, type Range } from "./picture";

export type Trouble = { line?: number; column?: number; path?: string; message: string };
export type Mark = { at_ns: number; kind: string; flow?: number | null; port?: number | null; text: string };
/** A statement of `elephan explain`; without a time it is about the whole run. */
export type Statement = { number: number; at_ns: number | null; kind: string; flow: number | null; text: string; help: string };
export type Why = { flow: number; spans: { from_ns: number; to_ns: number; reason: string; port?: number }[] };
/** What is known of the events in an interval: how many there are beside those that are shown. Without a table of events nothing is. */
export type Events = { of: number; shown: number; recorded: boolean };
export type Told = { version: string; tables: Head; limits: Head };
type Timing = { asked: number; first: number; whole: number; engine: number };
type Seen = { title?: string; question?: string; duration_ns: number; warmup_ns: number };

/** The most changes that are named beside a title. */
const CHANGES = 2;
/** The most flows of which the ribbon says what held them back. */
export const RIBBON_FLOWS = 12;

/** The most events that are named, those that matter most. */
const MOST_EVENTS = 200;

/** A run that is younger than this is not taken back for the next move of a slider. In WebAssembly it costs a worker. */
const PATIENCE_MS = { native: 90, wasm: 500 };

export class Session {
  readonly history: History<string>;
  told = $state.raw<Told | null>(null);
  given = $state.raw<Record<string, unknown>>({});
  controls = $state.raw<Control[]>([]);
  plan = $state.raw<Seen | null>(null);
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
  /** What was said last, each with the handle of the run that it is of. */
  private noticed = $state.raw<{ handle: number; view: Range; events: Events; marks: Mark[]; why: Why[] } | null>(null);
  private storied = $state.raw<{ handle: number; story: Statement[] }>({ handle: -1, story: [] });
  /** Why marks and reasons are missing. */
  untold = $state<string | null>(null);

  view = $state.raw<Range>({ from_ns: 0, to_ns: 1 });
  cursor_ns = $state<number | null>(null);
  flow = $state<number | null>(null);

  /** The keys of the scenario as it was opened, for the command that makes this run. */
  private opened: Record<string, unknown> | null = null;
  /** What is looked at if it is no scenario. */
  capture = $state.raw<{ name: string; flows: Flow[]; packets: boolean } | null>(null);
  running = $state(false);
  share = $state(0);
  width = 700;
  name = $state("");
  /** Whether `elephan run NAME` finds the scenario as it was opened. */
  library = false;

  /** For tests and for docs/performance.md: when each change came and when it was drawn, in ms of this page. */
  readonly timings: Timing[] = [];
  /** Pictures that are complete and on the screen. */
  drawn = $state(0);
  private readonly waiting = new Map<string, { value: string | null; gesture: string | null }>();
  private editing = false;
  private abort: AbortController | null = null;
  private settling: ReturnType<typeof setTimeout> | undefined;
  private refining = false;
  private telling = new AbortController();
  private started = 0;
  private begun = 0;
  private noticing: ReturnType<typeof setTimeout> | undefined;
  private ending: Promise<void> = Promise.resolve();
  private left = false;

  constructor(
    readonly engine: Engine,
    text: string,
  ) {
    this.history = new History(text);
    engine.onState((problem) => {
      this.lost = problem;
      if (problem === null && this.told && !this.capture && !this.picture?.kept) void this.run(performance.now());
    });
  }

  get text(): string {
    return this.history.now;
  }
  /** Events of the run that is drawn; of another run none are shown. */
  get marks(): Mark[] {
    return this.noticed && this.noticed.handle === this.picture?.handle ? this.noticed.marks : [];
  }
  /** What is known of the events of the interval in view; null until the engine has said it. */
  get events(): Events | null {
    const { noticed, view } = this;
    const same = noticed?.handle === this.picture?.handle && noticed?.view.from_ns === view.from_ns && noticed.view.to_ns === view.to_ns;
    return same ? noticed!.events : null;
  }
  get why(): Why[] {
    return this.noticed && this.noticed.handle === this.picture?.handle ? this.noticed.why : [];
  }
  /** What `elephan explain` says of the run that is drawn; nothing where the engine is WebAssembly. */
  get story(): Statement[] {
    return this.storied.handle === this.picture?.handle ? this.storied.story : [];
  }
  /** Why the picture is not that of the text, in words; null if it is, or is about to be. */
  get stale(): string | null {
    if (!this.picture || this.running || this.picture.text === this.text) return null;
    if (this.errors.length) return "Drawn from the text before the error";
    return this.problem || this.lost ? "Drawn from the text before your last change" : null;
  }
  get before(): Picture | null {
    return this.pinned ?? this.ghost;
  }

  async open(): Promise<void> {
    if (!this.told) {
      const { head } = await this.engine.request("describe");
      this.told = { version: head.version, tables: head.tables, limits: head.limits };
    }
    const checked = this.check();
    const ran = this.run(performance.now());
    await Promise.all([checked, ran]);
  }

  /** Shows a finished run from its own tables; what is changed from here on runs anew. */
  async present(head: Head): Promise<void> {
    const { head: told } = await this.engine.request("describe");
    this.told = { version: told.version, tables: told.tables, limits: told.limits };
    const sound = await this.check();
    const parts = await fetchParts(this.engine, head.handle);
    if (!sound) this.plan = { duration_ns: Math.max(1, ...parts.flows.map((f) => f.end_ns ?? 0)), warmup_ns: 0 };
    const { view } = this.ahead(parts.flows);
    const lines = await fetchLines(this.engine, head.handle, parts.asked, view, budget(parts.asked.length, this.width));
    this.view = view;
    const timing = { asked: performance.now(), first: 0, whole: 0, engine: 0 };
    this.show(this.text, { ...head, plan: this.plan, share: 1 }, parts, lines, timing, true);
    await this.notice();
  }

  /** Shows a capture: there is no scenario, and nothing can be changed. */
  async inspect(head: Head): Promise<void> {
    const { flows } = { flows: (await this.engine.request("flows", { handle: head.handle })).head.value as Flow[] };
    const asked = wantedOfCapture(flows);
    const whole = { from_ns: 0, to_ns: Math.max(1, Number(head.summary.span_ns)) };
    const lines = await fetchLines(this.engine, head.handle, asked, whole, budget(asked.length, this.width));
    const used = new Set(lines.filter((l) => l.t.length > 0 && l.y.some((v) => v === v)).map((l) => l.panel));
    const own = lines.filter((l) => used.has(l.panel));
    this.capture = { name: head.name, flows, packets: Boolean(head.packets) };
    this.flow = ranked(flows).find((f) => f.protocol === "tcp")?.id ?? null;
    this.plan = { title: head.name, duration_ns: whole.to_ns, warmup_ns: 0 };
    this.view = whole;
    this.picture = {
      handle: head.handle, text: "", seed: 0, whole, shown: whole, asked: own, warmup_ns: 0, flows, ports: [], topology: { nodes: [], links: [] },
      lines: own, summary: head.summary, wall_s: 0, share: 1,
    };
    this.drawn += 1;
    // A log of iperf3 or ss has no packets, and nothing says what held its senders back.
    const first = head.packets ? ranked(flows).filter((f) => f.protocol === "tcp").slice(0, RIBBON_FLOWS) : [];
    const why = await Promise.all(first.map((f) => this.engine.request("why", { handle: head.handle, flow: f.id })));
    if (this.picture.handle !== head.handle) return;
    const told = why.map((reply, i) => ({ flow: first[i]!.id, spans: reply.head.value }));
    this.noticed = { handle: head.handle, view: whole, events: { of: 0, shown: 0, recorded: true }, marks: [], why: told };
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
        await this.patience();
        const began = this.started;
        this.started = 0;
        let text = this.text;
        let step: string | null = null;
        let ok = true;
        for (const [path, change] of [...this.waiting]) {
          this.waiting.delete(path);
          step = change.gesture;
          const { head } = await this.engine.request("edit", { text, path, value: change.value, controls: step === null });
          text = head.text as string;
          ok = this.look(head);
        }
        if (text === this.text) continue;
        if (this.history.set(text, step) && ok) this.keep();
        if (ok) this.ending = this.run(began);
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.editing = false;
    }
  }

  /** Lets a run under way come to its end if it is short, so that a dragged slider draws whole pictures one after the other. */
  private async patience(): Promise<void> {
    const left = this.begun + PATIENCE_MS[this.engine.kind] - performance.now();
    if (this.running && left > 0) await Promise.race([this.ending, new Promise((resolve) => setTimeout(resolve, left))]);
  }

  /** A text as a person has typed it. */
  async type(text: string, gesture: string | null = "typing"): Promise<void> {
    if (text === this.text) return;
    const begins = this.history.set(text, gesture);
    const began = performance.now();
    if (await this.check()) {
      if (begins) this.keep();
      void this.run(began);
    }
  }

  /** The keys that differ from those of the scenario as it was opened; null if some were taken out. */
  get changes(): Record<string, string> | null {
    const [before, now] = [this.opened ?? {}, this.given];
    if (Object.keys(before).some((key) => !(key in now) && !key.endsWith(".kind"))) return null;
    const own = Object.entries(now).filter(([key, value]) => String(before[key]) !== String(value));
    return Object.fromEntries(own.map(([key, value]) => [key, String(value)]));
  }

  /** What of the scenario differs from the one that was opened, in words; empty if nothing does. */
  get changed(): string {
    const own = this.changes;
    if (own === null) return "changed";
    const said = Object.entries(own).map(([path, value]) => `${path.split(".").at(-1)!.replaceAll("_", " ")} ${value.replaceAll('"', "")}`);
    const more = said.length > CHANGES ? `, and ${said.length - CHANGES} more` : "";
    return said.length ? `changed: ${said.slice(0, CHANGES).join(", ")}${more}` : "";
  }

  /** A gesture is over: what comes next is a step of its own. */
  rest(): void {
    this.history.settle();
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
  /** The page shows something else from here on. */
  leave(): void {
    this.stop();
    clearTimeout(this.settling);
    this.left = true;
  }

  /** Asks whether the text is a scenario; returns whether it is. */
  async check(): Promise<boolean> {
    const text = this.text;
    try {
      const { head } = await this.engine.request("check", { text });
      return text === this.text && this.look(head);
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** Takes in what the engine says about a text; returns whether it is a scenario. */
  private look(head: Head): boolean {
    this.errors = head.errors ?? [];
    this.notes = head.notes ?? [];
    this.given = head.given ?? {};
    if (head.controls?.length) this.controls = fitting(head.controls.map(complete), this.given, (head.plan?.duration_ns ?? 1e18) / 1e9);
    if (head.ok) {
      this.opened ??= this.given;
      this.plan = head.plan;
      this.resolved = head.resolved ?? "";
    }
    return Boolean(head.ok);
  }

  private fail(error: unknown): void {
    if (error instanceof Cancelled) return;
    if (this.lost) return;
    if (error instanceof EngineError && error.head.errors?.length) this.errors = error.head.errors;
    else this.problem = error instanceof Error ? error.message : String(error);
  }

  /** Runs the scenario anew; a run under way is taken back. */
  async run(began: number): Promise<void> {
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    const text = this.text;
    const timing = { asked: began, first: 0, whole: 0, engine: 0 };
    this.running = true;
    this.begun = performance.now();
    this.share = 0;
    const { view, zoomed } = this.ahead();
    const first = this.picture === null;
    const last = this.picture ?? (await this.probe(text, abort.signal));
    if (abort.signal.aborted) return;
    const points = budget(last?.asked.length ?? 60, this.width);
    const series = last ? { series: { lines: last.asked.map((w) => w.ask), points, ...(zoomed ? view : {}) } } : {};
    const onPiece = ({ head, body }: Reply) => {
      this.share = head.share;
      if (!last || !head.lines || !this.plan || abort.signal.aborted) return;
      if (!this.picture) this.view = this.ahead().view;
      this.show(text, head, last, asLines(last.asked, head, body), timing);
    };
    try {
      const { head, body } = await this.engine.request("run", { text, ...series }, { signal: abort.signal, onPiece });
      const parts = await fetchParts(this.engine, head.handle);
      if (abort.signal.aborted) throw new Cancelled();
      const same = last && head.lines && JSON.stringify(parts.asked) === JSON.stringify(last.asked);
      if (first) this.plan = head.plan;
      const next = this.ahead(parts.flows);
      const lines = same
        ? asLines(parts.asked, head, body)
        : await fetchLines(this.engine, head.handle, parts.asked, next.view, budget(parts.asked.length, this.width), abort.signal);
      if (abort.signal.aborted) throw new Cancelled();
      if (first) this.view = next.view;
      this.show(text, { ...head, share: 1 }, parts, lines, timing);
      this.errors = [];
      this.problem = null;
      timing.engine = 1e3 * head.wall_s;
      this.running = false;
      this.settle();
      clearTimeout(this.noticing);
      this.noticing = setTimeout(() => void this.notice(abort.signal), 60);
    } catch (error) {
      this.fail(error);
    } finally {
      if (this.abort === abort) this.running = false;
    }
  }

  /** Who is in the first run, so that it can be drawn while it computes: the scenario is built, and ended at once. */
  private async probe(text: string, signal: AbortSignal): Promise<Parts | null> {
    try {
      const { head } = await this.engine.request("run", { text, until_s: 1e-9, warmup_s: 0 }, { signal });
      const parts = await fetchParts(this.engine, head.handle);
      void this.engine.request("close", { handle: head.handle }).catch(() => undefined);
      return parts;
    } catch {
      return null; // the run itself says what is wrong
    }
  }

  /** The interval that the coming picture will show: the one in view if it is part of the run, else the whole run. */
  private ahead(flows: Flow[] = []): { view: Range; zoomed: boolean } {
    const end = this.plan?.duration_ns ?? 1;
    const before = this.picture?.whole;
    const { from_ns, to_ns } = this.view;
    const zoomed = before !== undefined && (from_ns > before.from_ns || to_ns < before.to_ns) && from_ns < end;
    if (zoomed) return { view: { from_ns, to_ns: Math.min(to_ns, end) }, zoomed };
    const over = flows.length && flows.every((f) => f.end_ns != null) ? 1.05 * Math.max(...flows.map((f) => f.end_ns!)) : end;
    return { view: { from_ns: 0, to_ns: before ? end : Math.min(over, end) }, zoomed };
  }

  private show(text: string, head: Head, parts: Parts, lines: Line[], timing: Timing, kept = false): void {
    const { view } = this.ahead();
    const plan = (head.plan ?? this.plan) as Seen;
    this.view = this.picture ? view : this.view;
    this.picture = {
      handle: head.handle, text, lines, shown: this.view, whole: { from_ns: 0, to_ns: plan.duration_ns },
      flows: parts.flows, ports: parts.ports, topology: parts.topology, asked: parts.asked,
      seed: head.seed ?? this.picture?.seed ?? 1,
      warmup_ns: plan.warmup_ns,
      summary: head.summary ?? this.picture?.summary ?? null,
      wall_s: head.wall_s ?? 0,
      share: head.share,
      kept,
    };
    if (this.flow === null || !parts.flows.some((f) => f.id === this.flow)) this.flow = parts.flows[0]?.id ?? null;
    const whole = head.share >= 1;
    // Painted: after the frame that comes next.
    requestAnimationFrame(() =>
      setTimeout(() => {
        timing.first ||= performance.now();
        if (!whole) return;
        timing.whole = performance.now();
        this.timings.push(timing);
        this.drawn += 1;
      }),
    );
  }

  /** What is slower than the lines: events in words and the reasons, for the interval in view. */
  private async notice(signal?: AbortSignal): Promise<void> {
    try {
      await this.tell(signal);
      this.untold = null;
    } catch (error) {
      if (!(error instanceof Cancelled)) this.untold = error instanceof Error ? error.message : String(error);
    }
  }

  private async tell(signal?: AbortSignal): Promise<void> {
    const picture = this.picture;
    if (!picture || picture.share < 1 || this.capture) return;
    const ask = signal ? { signal } : {};
    const { view } = this;
    const flows = picture.flows.filter((f) => f.protocol === "tcp").slice(0, RIBBON_FLOWS);
    const [events, ...why] = await Promise.all([
      this.engine.request("events", { handle: picture.handle, ...view, limit: MOST_EVENTS }, ask),
      ...flows.map((f) => this.engine.request("why", { handle: picture.handle, flow: f.id }, ask)),
    ]);
    if (this.picture?.handle !== picture.handle) return;
    const { value: marks, of, recorded } = events!.head;
    const told = why.map((reply, i) => ({ flow: flows[i]!.id, spans: reply.head.value }));
    this.noticed = { handle: picture.handle, view, events: { of, shown: marks.length, recorded: recorded !== false }, marks, why: told };
    await this.explain(picture, ask);
  }

  /** Asks once for each run what `elephan explain` says of it. */
  private async explain(picture: Picture, ask: { signal?: AbortSignal }): Promise<void> {
    if (this.engine.kind !== "native" || this.storied.handle === picture.handle) return;
    const { handle, text, seed, summary } = picture;
    await new Promise((resolve) => setTimeout(resolve, 250)); // a slider that moves on wants no story
    if (ask.signal?.aborted || this.picture?.handle !== handle) return;
    const { head } = await this.engine.request("explain", { handle, text, seed, summary }, ask);
    if (this.picture?.handle !== handle) return;
    this.storied = { handle, story: head.value };
  }

  /** A moment after the last change the address keeps the scenario. */
  private settle(): void {
    clearTimeout(this.settling);
    this.settling = setTimeout(async () => {
      const packed = await pack(this.text);
      if (this.left) return;
      history.replaceState(null, "", `#${packed}`);
      await this.check();
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
    clearTimeout(this.noticing);
    this.telling.abort();
    void this.refine();
  }

  /** Brings an event into the middle of the view, and its flow into the graph of segments. */
  visit(mark: { at_ns: number; flow?: number | null }): void {
    const { from_ns, to_ns } = this.view;
    const width = Math.min(to_ns - from_ns, Math.max(2e6, (to_ns - from_ns) / 8));
    this.cursor_ns = mark.at_ns;
    if (mark.flow != null) this.flow = mark.flow;
    this.zoom({ from_ns: mark.at_ns - width / 2, to_ns: mark.at_ns + width / 2 });
  }

  /** Asks for the samples in view; what is zoomed meanwhile comes right after, one request at a time. */
  private async refine(): Promise<void> {
    if (this.refining) return;
    this.refining = true;
    try {
      let view: Range;
      do {
        view = this.view;
        await this.lookCloser(view);
      } while (this.view !== view);
    } catch (error) {
      this.fail(error);
    } finally {
      this.refining = false;
    }
    this.noticeSoon();
  }

  /** Words for the view come when it has rested: they cost the engine more than lines do. */
  private noticeSoon(): void {
    clearTimeout(this.noticing);
    this.telling.abort();
    this.telling = new AbortController();
    const { signal } = this.telling;
    this.noticing = setTimeout(() => void this.notice(signal), 200);
  }

  private async lookCloser(view: Range): Promise<void> {
    const again = async (of: Picture | null): Promise<Picture | null> =>
      of && { ...of, lines: await fetchLines(this.engine, of.handle, of.lines, view, budget(of.lines.length, this.width)), shown: view };
    const { picture, before } = this;
    const [fresh, old] = await Promise.all([again(picture), again(before).catch(() => before)]);
    if (this.picture === picture) this.picture = fresh;
    if (this.pinned === before) this.pinned = old;
    else if (this.ghost === before) this.ghost = old;
  }
}
