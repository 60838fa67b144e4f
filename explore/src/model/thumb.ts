// The small pictures of the gallery: one run after the other, each kept as long as the page lives.
import type { Engine } from "../engine/engine";
import { fetchLines, fetchParts, type Line } from "./picture";

type Made = { lines: Line[]; end: number };
const made = new Map<string, Promise<Made>>();
let last: Promise<unknown> = Promise.resolve();
const PATIENCE_MS = 3000;

async function draw(engine: Engine, text: string): Promise<Made> {
  const { head } = await engine.request("run", { text }, { signal: AbortSignal.timeout(PATIENCE_MS) });
  const { asked } = await fetchParts(engine, head.handle);
  const own = asked.filter((w) => w.role === "main" && (w.panel === "goodput" || w.panel === "queue"));
  const end = 1e9 * (head.summary?.simulated_s ?? 1);
  const lines = await fetchLines(engine, head.handle, own, { from_ns: 0, to_ns: end }, 150);
  void engine.request("close", { handle: head.handle }).catch(() => undefined);
  return { lines, end };
}

/** Returns goodput and queue of a scenario. */
export function thumb(engine: Engine, text: string): Promise<Made> {
  const known = made.get(text);
  if (known) return known;
  const next = last.then(() => draw(engine, text));
  last = next.catch(() => undefined);
  made.set(text, next);
  return next;
}
