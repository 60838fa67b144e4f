import { describe, expect, it } from "vitest";
import { at, controls, position, slider, valueAt, type Template } from "../src/model/controls";
import { unframe } from "../src/engine/engine";
import { pack, unpack } from "../src/model/link";
import { valueAtTime } from "../src/model/picture";
import { command, csv, shell } from "../src/model/take";

const template = (path: string, more: Partial<Template> = {}): Template => ({
  path, title: path, unit: "", kind: "quantity", low: 1, high: 100, scale: "linear", choices: null, group: "g", ...more,
});

describe("links", () => {
  it("keep a scenario, letters of all languages included", async () => {
    const linked = { text: 'title = "Größe → 3 µs"\n'.repeat(50), seed: 7 };
    const fragment = await pack(linked);
    expect(fragment).toMatch(/^s=[\w-]+$/);
    expect(fragment.length).toBeLessThan(200);
    expect(await unpack("#" + fragment)).toEqual(linked);
  });
  it("that are cut off keep nothing", async () => {
    const fragment = await pack({ text: "x".repeat(300), seed: null });
    expect(await unpack(fragment.slice(0, 12))).toBeNull();
    expect(await unpack("#other")).toBeNull();
  });
});

describe("controls", () => {
  const given = { "template.rate": "20 Mbps", "template.queue.kind": "red", "traffic[0].start": "1 s", "traffic[1].congestion_control": "bbr",
    "traffic[0].name": "a", "traffic[1].name": "b" };
  it("are made for each entry that the text has", () => {
    const made = controls([template("traffic[].start", { default: "0 s" }), template("links[].rate")], given, {});
    expect(made.map((c) => [c.at, c.of, c.text, c.given])).toEqual([
      ["traffic[0].start", "a", "1 s", true],
      ["traffic[1].start", "b", "0 s", false],
    ]);
  });
  it("of one kind of queue are shown beside that kind only", () => {
    const when = { path: "template.queue.kind", is: "red" };
    expect(controls([template("template.queue.max_p", { default: "0.1", when })], given, {})).toHaveLength(1);
    expect(controls([template("template.queue.target", { default: "5 ms", when: { ...when, is: "codel" } })], given, {})).toHaveLength(0);
  });
  it("find values in the resolved scenario", () => {
    expect(at({ traffic: [{ start: "0 s" }, { start: "2 s" }] }, "traffic[1].start")).toBe("2 s");
    expect(at({ a: null }, "a.b.c")).toBeUndefined();
  });
  it("slide along a logarithm and stop at the ends", () => {
    const s = slider({ ...template("template.rate", { low: 1e6, high: 1e8, scale: "log" }), at: "", of: "", text: "10 Mbps", given: true })!;
    expect(position(s, 10e6)).toBeCloseTo(0.5, 9);
    expect(valueAt(s, 0.5, false)).toBe(10e6);
    expect(valueAt(s, -1, false)).toBe(1e6);
    expect(valueAt(s, 2, false)).toBe(1e8);
  });
});

describe("frames", () => {
  it("have a head and a body that starts at a multiple of eight", () => {
    const head = new TextEncoder().encode('{"id":3,"kind":"done"}'.padEnd(28));
    const frame = new ArrayBuffer(4 + head.length + 16);
    new DataView(frame).setUint32(0, head.length, true);
    new Uint8Array(frame, 4).set(head);
    new Float64Array(frame, 32)[1] = 2.5;
    const reply = unframe(frame);
    expect(reply.head).toEqual({ id: 3, kind: "done" });
    expect([...new Float64Array(reply.body)]).toEqual([0, 2.5]);
  });
});

describe("what is taken away", () => {
  it("is a command that a shell reads as it was meant", () => {
    expect(command("sawtooth", { "template.rate": "12 Mb/s" }, 3)).toBe("elephan run sawtooth -s 'template.rate=12 Mb/s' --seed 3");
    expect(shell("it's")).toBe(`'it'"'"'s'`);
  });
  it("is CSV with names in quotes where they need them", () => {
    const line = { name: 'a,"b"', unit: "B", t: Float64Array.of(1), y: Float64Array.of(2.5), ask: { table: "flow_samples", column: "cwnd_bytes", how: "value" } };
    expect(csv([line as never])).toBe('name,table,column,how,time_ns,value,unit\n"a,""b""",flow_samples,cwnd_bytes,value,1,2.5,B\n');
  });
});

describe("the cursor", () => {
  const line = { t: Float64Array.of(10, 20, 30), y: Float64Array.of(1, 2, 3) };
  it("reads the last sample at or before it", () => {
    expect([9, 10, 19, 20, 31, 51].map((t) => valueAtTime(line, t))).toEqual([NaN, 1, 1, 2, 3, NaN]);
  });
});
