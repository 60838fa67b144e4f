// The small pictures of the gallery: one run after the other, each kept as long as the page lives.
import { Cancelled, type Engine } from "../engine/engine";
import { fetchLines, fetchParts, type Line } from "./picture";

type Made = { lines: Line[]; end: number };
const made = new Map<string, Promise<Made>>();
let last: Promise<unknown> = Promise.resolve();
const PATIENCE_MS = 15_000;

async function draw(engine: Engine, text: string, gone: AbortSignal): Promise<Made> {
  if (gone.aborted) throw new Cancelled();
  const { head } = await engine.request("run", { text }, { signal: AbortSignal.any([gone, AbortSignal.timeout(PATIENCE_MS)]) });
  const { asked } = await fetchParts(engine, head.handle);
  const end = head.plan.duration_ns as number;
  const per = Math.max(end / 90, head.plan.every_ns ?? 0) / 1e9;
  const own = asked
    .filter((w) => w.role === "main" && (w.panel === "goodput" || w.panel === "queue"))
    .map((w) => (w.ask.how === "rate" ? { ...w, ask: { ...w.ask, per } } : w));
  const lines = await fetchLines(engine, head.handle, own, { from_ns: 0, to_ns: end }, 150);
  void engine.request("close", { handle: head.handle }).catch(() => undefined);
  return { lines: lines.filter((l) => l.y.some((v) => v > 0)), end };
}

/** Returns goodput and queue of a scenario; nobody waits for it any more when `gone` says so. */
export function thumb(engine: Engine, text: string, gone: AbortSignal): Promise<Made> {
  const known = made.get(text);
  if (known) return known;
  const next = last.then(() => draw(engine, text, gone));
  last = next.catch(() => {
    if (gone.aborted) made.delete(text);
  });
  made.set(text, next);
  return next;
}
