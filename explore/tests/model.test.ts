import { describe, expect, it } from "vitest";
import { fitting, heading, position, slider, text, typed, valueAt, wording, type Control } from "../src/model/controls";
import { unframe } from "../src/engine/engine";
import { pack, unpack } from "../src/model/link";
import { valueAtTime } from "../src/model/picture";
import { command, csv, notebook, shell } from "../src/model/take";

const control = (more: Partial<Control>): Control => ({
  path: "template.rate", title: "rate", text: "", kind: "quantity", quantity: "rate", unit: "bit/s", value: "10 Mbps", number: 10e6, given: true,
  low: 1e6, high: 1e8, scale: "log", choices: [], pattern: "", group: "template", main: true, ...more,
});

describe("links", () => {
  it("keep a scenario, letters of all languages included", async () => {
    const text = 'title = "Größe → 3 µs"\n'.repeat(50);
    const fragment = await pack(text);
    expect(fragment).toMatch(/^s=[\w-]+$/);
    expect(fragment.length).toBeLessThan(200);
    expect(await unpack("#" + fragment)).toBe(text);
  });
  it("that are cut off keep nothing", async () => {
    const fragment = await pack("x".repeat(300));
    expect(await unpack(fragment.slice(0, 5))).toBeNull();
    expect(await unpack("#other")).toBeNull();
  });
});

describe("controls", () => {
  it("slide along a logarithm and stop at the ends", () => {
    const s = slider(control({}))!;
    expect(position(s, 10e6)).toBeCloseTo(0.5, 9);
    expect(valueAt(s, 0.5)).toBe(10e6);
    expect(valueAt(s, -1)).toBe(1e6);
    expect(valueAt(s, 2)).toBe(1e8);
    expect(text(s, 20e6)).toBe("20 Mb/s");
  });
  it("reach zero on a logarithm where zero is a value, and write it as the language does", () => {
    const loss = control({ kind: "number", unit: "", value: "none", number: 0, low: 0, high: 0.1, pattern: "{ bernoulli = # }" });
    const s = slider(loss)!;
    expect(position(s, 0)).toBe(0);
    expect(valueAt(s, 0.03)).toBe(0);
    expect(valueAt(s, position(s, 0.01))).toBe(0.01);
    expect([typed(loss, "0.01"), typed(loss, "0"), wording(loss)]).toEqual(["{ bernoulli = 0.01 }", "none", "0"]);
  });
  it("count in whole numbers", () => {
    const s = slider(control({ kind: "count", unit: "", value: 3, number: 3, low: 1, high: 64, scale: "linear" }))!;
    expect(text(s, valueAt(s, 0.47))).toBe("31");
  });
  it("stretch to a value beyond their range", () => {
    expect(slider(control({ number: 5e9, value: "5 Gbps" }))!.high).toBe(5e9);
    expect(slider(control({ value: { uniform: ["0 s", "1 s"] }, number: null }))).toBeNull();
  });
  it("stand below the name of their traffic", () => {
    expect(heading("traffic[1]", { "traffic[1].name": '"bbr"' })).toBe("traffic · bbr");
    expect(heading("template", { "template.kind": '"star"' })).toBe("network · star");
    expect(heading("links[0]", { "links[0].between": '["a", "b"]' })).toBe("links · a – b");
  });
  it("end with the run", () => {
    const start = control({ path: "traffic[0].start", unit: "s", high: 60, number: 0, low: 0 });
    const many = control({ path: "traffic[0].connections", kind: "count" });
    expect(fitting([start, many], { "traffic[0].kind": '"bulk"' }, 5).map((c) => c.high)).toEqual([5, 1e8]);
  });
  it("offers a count at one end only, unless the scenario says who talks to whom", () => {
    const end = (name: string, number: number) => control({ path: `template.${name}`, title: name, kind: "count", number, main: true });
    const shown = (clients: number, servers: number, given = {}) =>
      fitting([end("clients", clients), end("servers", servers)], given, 5).filter((c) => c.main).map((c) => c.title);
    expect(shown(32, 1)).toEqual(["clients"]);
    expect(shown(1, 1)).toEqual(["clients", "servers"]);
    expect(shown(32, 2, { "traffic[0].pairing": "all" })).toEqual(["clients", "servers"]);
  });
  it("show tables as the text has them", () => {
    expect(wording(control({ value: { uniform: ["0 s", "1 s"] }, number: null }))).toBe('{ uniform = ["0 s", "1 s"] }');
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
    expect(command("sawtooth", { "template.rate": "12 Mb/s" })).toBe("elephan run sawtooth -s 'template.rate=12 Mb/s'");
    expect(shell("it's")).toBe(`'it'"'"'s'`);
  });
  it("is a notebook that Jupyter reads", () => {
    const made = JSON.parse(notebook('title = "x"\n'));
    expect(made.nbformat).toBe(4);
    expect(made.cells[0].source).toContain('title = "x"');
    expect(made.cells[0].source.trimEnd().endsWith("run")).toBe(true);
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
