// What holds a sender back, in the words of the engine, and its colour.
const COLORS: Record<string, string> = {
  handshake: "--line",
  "slow start": "--s5",
  "congestion window": "--s0",
  "full link": "--ink",
  recovery: "--s1",
  timeout: "--bad",
  "receive window": "--s3",
  "send buffer": "--s4",
  application: "--muted",
  pacing: "--s2",
  "closed window": "--bad",
  "path or window": "--s0",
  unknown: "--line",
  idle: "--grid",
  "disk that is read": "--open",
  "disk that is written": "--open",
};

/** Returns the CSS variable of a reason's colour. */
export function reasonColor(reason: string): string {
  return COLORS[reason] ?? "--muted";
}
