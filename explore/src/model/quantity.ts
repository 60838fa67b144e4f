// Quantities as the product writes them: "20 Mb/s", "51.9 ms", "124 kB", and what a person types.

const RATE = { b: 1, B: 8 } as const;
const SI: Record<string, number> = { "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 };
const TIME: Record<string, number> = {
  ps: 1e-12, ns: 1e-9, us: 1e-6, "µs": 1e-6, "μs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400,
};

export type Quantity = { value: number; kind: "rate" | "time" | "size" | "bdp" | "packets" | "number"; unit: string };

/** Returns what a text such as "20 Mbps", "24 ms", "1 bdp" or "0.5 %" says in base units (b/s, s, B), or null. */
export function parse(text: string): Quantity | null {
  const found = /^\s*([+-]?[0-9._]+(?:[eE][+-]?[0-9]+)?)\s*(\S*(?:\s*\/\s*s)?)\s*$/.exec(text);
  if (!found) return null;
  const value = Number(found[1]!.replaceAll("_", ""));
  const unit = found[2]!;
  if (!Number.isFinite(value)) return null;
  if (unit === "") return { value, kind: "number", unit };
  if (unit === "%") return { value: value / 100, kind: "number", unit };
  if (unit === "bdp") return { value, kind: "bdp", unit };
  if (/^(p|packets?)$/.test(unit)) return { value, kind: "packets", unit };
  if (unit in TIME) return { value: value * TIME[unit]!, kind: "time", unit };
  const rate = /^([KMGT]i?|k)?(?:(b)(?:ps|\/s|it\/s)|(B)(?:ps|\/s))$/.exec(unit);
  if (rate) return { value: value * SI[rate[1] ?? ""]! * RATE[rate[2] ? "b" : "B"], kind: "rate", unit };
  const size = /^([KMGT]i?|k)?B$/.exec(unit);
  if (size) return { value: value * SI[size[1] ?? ""]!, kind: "size", unit };
  return null;
}

const STEPS = [
  [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""],
] as const;

/** Returns a number in plain digits, at most `digits` of them significant, thousands set apart. */
export function plain(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const short = Math.abs(value) >= 10 ** digits ? String(Math.round(value)) : String(Number(value.toPrecision(digits)));
  if (/e/.test(short)) return short;
  return short.replace(/^-?\d{5,}/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, "\u202f"));
}

function scaled(value: number, unit: string, digits: number): string {
  const size = Math.abs(value) * (1 + 0.5 * 10 ** -digits);
  const [step, prefix] = STEPS.find(([from]) => size >= from) ?? ([1, ""] as const);
  return `${plain(value / step, digits)} ${prefix}${unit}`;
}

/** Returns a value in base units as a person reads it; `unit` is one of b/s, B, s, ns, % or empty. */
export function show(value: number | null | undefined, unit: string, digits = 3): string {
  if (value == null || !Number.isFinite(value)) return "–";
  if (unit === "b/s" || unit === "bit/s") return scaled(value, "b/s", digits);
  if (unit === "B") return scaled(value, "B", digits);
  if (unit === "ns") return show(value / 1e9, "s", digits);
  if (unit === "%") return `${plain(value * 100, digits)} %`;
  if (unit === "s") {
    const size = Math.abs(value) * (1 + 0.5 * 10 ** -digits);
    if (value === 0 || size >= 1) return `${plain(value, digits)} s`;
    for (const name of ["ms", "µs"]) if (size >= TIME[name]!) return `${plain(value / TIME[name]!, digits)} ${name}`;
    return `${plain(value / 1e-9, digits)} ns`;
  }
  return unit ? `${plain(value, digits)} ${unit}` : plain(value, digits);
}

/** Returns the text of a value for the scenario, in the kind and, for sizes, in the family of units that `like` has. */
export function write(value: number, like: Quantity): string {
  const digits = 3;
  if (like.kind === "rate") return scaled(value, "b/s", digits).replaceAll("\u202f", "").replace(" ", " ");
  if (like.kind === "time") return show(value, "s", digits).replace("µs", "us").replaceAll("\u202f", "");
  if (like.kind === "size") {
    // Whole bytes: the language takes no others.
    if (!/i/.test(like.unit)) return scaled(value < 1000 ? Math.round(value) : value, "B", digits).replaceAll("\u202f", "");
    if (value < 10_240 && value % 1024 !== 0) return `${Math.round(Number(value.toPrecision(digits)))} B`;
    const kib = Math.round(Number((value / 1024).toPrecision(digits)));
    return kib % 1024 === 0 ? `${kib / 1024} MiB` : `${kib} KiB`;
  }
  const number = String(Number(value.toPrecision(digits)));
  if (like.kind === "bdp") return `${number} bdp`;
  if (like.kind === "packets") return `${Math.max(1, Math.round(Number(value.toPrecision(digits))))} p`;
  return number;
}

/** Returns evenly spaced round numbers that cover `low` to `high`. */
export function round_steps(low: number, high: number, count: number): number[] {
  const rough = (high - low) / Math.max(1, count);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999) ?? power * 10;
  const out: number[] = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) out.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return out;
}
