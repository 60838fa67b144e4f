// One colour for each congestion control, on every panel and in every report.
import { OF_CONGESTION_CONTROL } from "../generated/palette";

const style = () => getComputedStyle(document.documentElement);
let cache = new Map<string, string>();

/** Forgets the colours: the scheme has changed. */
export function forgetColors(): void {
  cache = new Map();
}

/** Returns what a CSS variable such as `--ink` is now. */
export function variable(name: string): string {
  const known = cache.get(name);
  if (known) return known;
  const value = style().getPropertyValue(name).trim() || "#888";
  cache.set(name, value);
  return value;
}

/** Returns the CSS variable of a line: by congestion control, by port, by kind of datagram. */
export function variableOf(paint: string): string {
  const port = /^port (\d+)$/.exec(paint);
  if (port) return ["--ink", "--muted", "--s5", "--s3"][Number(port[1]) % 4]!;
  const known = OF_CONGESTION_CONTROL[paint];
  if (known !== undefined) return `--s${known}`;
  let sum = 0;
  for (const letter of paint) sum = (sum * 31 + letter.charCodeAt(0)) % 6;
  return `--s${sum}`;
}
