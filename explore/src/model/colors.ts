// One colour for each congestion control, on every panel and in every report.
import { CONTROLS, GUEST, HUES, STROKES, type Look } from "../generated/palette";

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

/** CRC-32, by which the report chooses the colour of a name that its table has not. */
export function crc32(text: string): number {
  let crc = -1;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

const PORTS: Look[] = [["--ink", []], ["--muted", []], ["--s5", []], ["--s3", []]];

/**
 * Returns how a line looks: by congestion control as in every report, or by the number of its port.
 * `reno~1` is a second thing with Reno: as in reports it has the next stroke.
 */
export function lookOf(paint: string): Look {
  const port = /^port (\d+)$/.exec(paint);
  if (port) return PORTS[Number(port[1]) % PORTS.length]!;
  const series = /^series (\d+)$/.exec(paint);
  if (series) return [`--s${Number(series[1]) % 6}`, Number(series[1]) < 6 ? [] : GUEST];
  const again = /^(.*)~(\d+)$/.exec(paint);
  if (again) {
    const [hue, dashes] = lookOf(again[1]!);
    const at = STROKES.findIndex((s) => s.length === dashes.length && s[0] === dashes[0]);
    return [hue, STROKES[(at + Number(again[2])) % STROKES.length]!];
  }
  return CONTROLS[paint] ?? [HUES[crc32(paint) % HUES.length]!, GUEST];
}

/** Returns the CSS variable of a line's colour. */
export function variableOf(paint: string): string {
  return lookOf(paint)[0];
}
