// Seeds of one or two settings, judged: what each number is with its interval, and bands over time.
import type { Engine } from "../engine/engine";
import { bandOf, bySpan, intervals, power, warning, within, type Band, type Interval, type Sample } from "./chance";
import { TOTAL, type Trial } from "./many.svelte";
import { numbers, type Figure } from "./numbers";

export type Row = { figure: Figure; now: Interval; kept: Interval | null; change: Interval | null };
export type Judged = {
  rows: Row[];
  /** By setting and line. */
  bands: Map<string, Band>;
  /** Goodput of all flows, now less kept. */
  difference: Band | null;
  warnings: string[];
  power: string;
  pairs: number;
};

/** Returns the key of a band. */
export const bandKey = (setting: number, line: string) => `${setting}\t${line}`;

/** Returns the runs of both settings with the same seed. */
function paired(trials: Trial[]): [Trial, Trial][] {
  const kept = new Map(trials.filter((t) => t.setting === 1).map((t) => [t.seed, t]));
  return trials.flatMap((t): [Trial, Trial][] => (t.setting === 0 && kept.has(t.seed) ? [[t, kept.get(t.seed)!]] : []));
}

/** Judges trials; `two`: of two settings. The engine has the statistics. */
export async function judged(engine: Engine, trials: Trial[], two: boolean): Promise<Judged> {
  const settings = two ? [0, 1] : [0];
  const of = (setting: number) => trials.filter((t) => t.setting === setting);
  const pairs = paired(trials);
  const figures = new Map<string, Figure>();
  const told = new Map(trials.map((t) => [t, new Map(numbers(t.summary).map((f) => [f.name, f]))]));
  for (const own of told.values()) for (const [name, figure] of own) if (!figures.has(name)) figures.set(name, figure);
  const value = (t: Trial, name: string) => told.get(t)!.get(name)?.value ?? NaN;
  const kinds = (all: Trial[], name: string) => all.flatMap((t) => told.get(t)!.get(name)?.of ?? []);
  const samples: Sample[] = [];
  const add = (sample: Sample) => samples.push(sample) - 1;
  const places = [...figures.values()].map((figure, i) => {
    const rows = (all: Trial[]) => [all.map((t) => value(t, figure.name))];
    const own = settings.map((setting) => add({ of: within(kinds(of(setting), figure.name)), rows: rows(of(setting)) }));
    const change = two && add({ of: within(kinds(trials, figure.name)), rows: rows(pairs.map(([now]) => now)), less: rows(pairs.map(([, kept]) => kept)), power: i === 0 });
    return { figure, own, change };
  });
  const lines = new Map<string, number>();
  for (const setting of settings) {
    const own = of(setting);
    for (const line of new Set(own.flatMap((t) => [...t.grid.keys()]))) {
      const runs = own.flatMap((t) => (t.grid.has(line) ? [t.grid.get(line)!] : []));
      lines.set(bandKey(setting, line), add({ of: { kind: "amount" }, rows: bySpan(runs) }));
    }
  }
  const whole = pairs.filter((both) => both.every((t) => t.grid.has(TOTAL)));
  const totals = [0, 1].map((side) => bySpan(whole.map((both) => both[side]!.grid.get(TOTAL)!)));
  const difference = whole.length ? add({ of: { kind: "amount" }, rows: totals[0]!, less: totals[1]! }) : -1;
  const found = await intervals(engine, samples);
  const one = (place: number) => found[place]![0]!;
  const rows = places.map(({ figure, own, change }) => ({
    figure, now: one(own[0]!), kept: two ? one(own[1]!) : null, change: change === false ? null : one(change),
  }));
  const drops = rows.find((row) => row.figure.name === "drops");
  const alike = settings.map((setting) => warning(rows.map((row) => (setting ? row.kept! : row.now)), (setting ? drops?.kept?.mean : drops?.now.mean) ?? 0));
  const [first] = rows;
  const able = first?.change ? power(first.change.n, first.change.seen, first.kept!.mean, first.figure.name, first.figure.of, first.figure.apart) : "";
  return {
    rows, bands: new Map([...lines].map(([key, place]) => [key, bandOf(found[place]!)])), difference: difference < 0 ? null : bandOf(found[difference]!),
    warnings: [...new Set(alike.filter(Boolean))], power: able, pairs: pairs.length,
  };
}
