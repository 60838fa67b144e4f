// The panels of a run: which lines of which tables each of them asks for.

export type Flow = {
  id: number;
  name: string;
  traffic: string;
  /** What a reader would call the traffic entry: by the congestion control that it has. */
  entry?: string;
  source: string;
  destination: string;
  protocol: string;
  congestion_control: string;
  stack: string;
  start_ns: number;
  end_ns: number | null;
  /** Of a connection of a capture. */
  delivered_bytes?: number | null;
};
export type Port = {
  port: number;
  name: string;
  node: string;
  peer: string;
  rate_bps: number;
  delay_ns: number;
  of_switch: boolean;
  sampled: boolean;
  limit_bytes?: number | null;
  bottleneck?: boolean;
  utilisation?: number;
  drops?: number;
};
export type Node = { id: number; name: string; kind: "host" | "switch"; x: number; y: number; memory_bytes: number | null };
export type Link = { from: number; to: number; ports: [number, number]; rate_bps: number; reverse_rate_bps: number; delay_ns: number };
export type Topology = { nodes: Node[]; links: Link[] };

export type LineAsk = {
  table: string;
  column?: string;
  where?: Record<string, number | string>;
  how: "value" | "rate" | "sum" | "count";
  /** Seconds of a rate. */
  per?: number;
  /** The column that tells counters apart, of a rate of all of them together. */
  each?: string;
};
export type Wanted = {
  panel: PanelId;
  name: string;
  /** Of whom: a flow, a port, a switch. */
  flow?: number;
  port?: number;
  /** Lines of one group share a colour: a congestion control, or a port. */
  paint: string;
  /** The traffic entry, for the legend of many flows. */
  group: string;
  /** `total` is of all flows, drawn or not, and no line of its own. */
  role: "main" | "second" | "marks" | "total";
  ask: LineAsk;
};

export type PanelId = "goodput" | "window" | "queue" | "rtt" | "inflight" | "memory";
export type PanelKind = { id: PanelId; title: string; unit: string; text: string };

export const PANELS: PanelKind[] = [
  { id: "goodput", title: "Goodput", unit: "b/s", text: "Payload that the receiving application reads, by sample." },
  { id: "window", title: "Congestion window and threshold", unit: "B", text: "Solid: congestion window. Dotted: slow-start threshold." },
  { id: "queue", title: "Queue", unit: "B", text: "Bytes that wait at a port. Marks above: packets that the port dropped." },
  { id: "rtt", title: "Round-trip time", unit: "ns", text: "Smoothed round-trip time; dots: samples." },
  { id: "inflight", title: "In flight", unit: "B", text: "Bytes sent and not yet acknowledged, as the sender counts them." },
  { id: "memory", title: "Memory of switches", unit: "B", text: "Shared memory of a switch that its ports use together." },
];

/** The most flows that panels draw one by one. */
export const MOST_FLOWS = 48;
const MOST_PORTS = 4;

/** The name of the line that sums up all flows. */
export const ALL = "all flows";

/** Returns what a reader would call the traffic of a flow. */
export const entryOf = (f: Flow): string => f.entry || f.traffic || f.source;

/** Returns the flows that are drawn: all, or an even choice of them. */
export function drawnFlows(flows: Flow[]): Flow[] {
  if (flows.length <= MOST_FLOWS) return flows;
  return Array.from({ length: MOST_FLOWS }, (_, i) => flows[Math.floor((i * flows.length) / MOST_FLOWS)]!);
}

/** Returns the ports whose queue is drawn: of those of switches that are sampled the bottleneck first, then those that dropped most. */
export function drawnPorts(ports: Port[]): Port[] {
  return ports
    .filter((p) => p.sampled && p.of_switch)
    .sort((a, b) => Number(b.bottleneck ?? 0) - Number(a.bottleneck ?? 0) || (b.drops ?? 0) - (a.drops ?? 0) || a.rate_bps - b.rate_bps || a.port - b.port)
    .slice(0, MOST_PORTS);
}

/** Returns every line that the panels of a run ask for. */
export function wanted(flows: Flow[], ports: Port[], topology: Topology): Wanted[] {
  const out: Wanted[] = [];
  const own = drawnFlows(flows);
  // Traffic of one congestion control has one colour; the second entry with it has the next stroke.
  const entries = new Map<string, string[]>();
  const paint = (f: Flow): string => {
    const name = f.congestion_control || f.protocol;
    const known = entries.get(name) ?? [];
    if (!known.includes(f.traffic)) known.push(f.traffic);
    entries.set(name, known);
    const turn = known.indexOf(f.traffic);
    return turn ? `${name}~${turn}` : name;
  };
  for (const f of own) {
    const look = paint(f);
    const line = (panel: PanelId, column: string, how: "value" | "rate", role: Wanted["role"] = "main") =>
      out.push({
        panel, role, name: f.name, flow: f.id, group: entryOf(f), paint: look,
        ask: { table: "flow_samples", column, where: { flow: f.id }, how },
      });
    line("goodput", "delivered_bytes", "rate");
    if (!f.congestion_control || f.congestion_control === "none") continue;
    line("window", "cwnd_bytes", "value");
    if (own.length <= 8) line("window", "ssthresh_bytes", "value", "second");
    line("rtt", "srtt_ns", "value");
    line("inflight", "inflight_bytes", "value");
  }
  if (flows.length)
    out.push({
      panel: "goodput", role: "total", name: ALL, group: ALL, paint: "total",
      ask: { table: "flow_samples", column: "delivered_bytes", how: "rate", each: "flow" },
    });
  for (const [index, p] of drawnPorts(ports).entries()) {
    const port = (ask: LineAsk, role: Wanted["role"]) =>
      out.push({ panel: "queue", role, name: p.name.replace("->", " → "), port: p.port, group: p.name, paint: `port ${index}`, ask });
    port({ table: "port_samples", column: "queue_bytes", where: { port: p.port }, how: "value" }, "main");
    port({ table: "events", column: "packet_bytes", where: { kind: "drop", port: p.port }, how: "value" }, "marks");
  }
  for (const [index, name] of topology.nodes.filter((n) => n.kind === "switch" && n.memory_bytes !== null).map((n) => n.name).slice(0, 4).entries())
    out.push({
      panel: "memory", role: "main", name, group: name, paint: `port ${index}`,
      ask: { table: "switch_samples", column: "memory_bytes", where: { switch: name }, how: "value" },
    });
  return out;
}

/** The most connections of a capture that panels draw. */
const MOST_CONNECTIONS = 24;

/** Returns the connections of a capture, those first that delivered most. */
export function ranked<T extends { delivered_bytes?: number | null }>(flows: T[]): T[] {
  return [...flows].sort((a, b) => (b.delivered_bytes ?? 0) - (a.delivered_bytes ?? 0));
}

/** Returns every line that the panels of a capture ask for: of the connections that delivered most. */
export function wantedOfCapture(flows: Flow[]): Wanted[] {
  const own = ranked(flows).slice(0, MOST_CONNECTIONS);
  return own.flatMap((f, index) => {
    const line = (panel: PanelId, column: string, how: "value" | "rate", role: Wanted["role"] = "main"): Wanted => ({
      panel, role, name: f.name, flow: f.id, group: f.source, paint: `series ${index}`,
      ask: { table: "connection_samples", column, where: { connection: f.id }, how },
    });
    const marks: Wanted = { ...line("inflight", "size_bytes", "value", "marks"), ask: {
      table: "trace_events", column: "size_bytes", where: { connection: f.id, kind: "retransmission" }, how: "value",
    } };
    return [
      line("goodput", "delivered_bytes", "rate"), line("window", "cwnd_bytes", "value"), line("window", "ssthresh_bytes", "value", "second"),
      line("rtt", "rtt_mean_ns", "value"), line("inflight", "inflight_bytes", "value"), marks,
    ];
  });
}
