// What holds a sender back, as the engine names it, in words and in colours.
const REASONS: Record<string, [string, string]> = {
  handshake: ["handshake", "--line"],
  slow_start: ["slow start", "--s5"],
  congestion_avoidance: ["congestion window", "--s0"],
  congestion_window: ["congestion window", "--s0"],
  cwnd: ["congestion window", "--s0"],
  recovery: ["recovery", "--s1"],
  loss: ["timeout", "--bad"],
  timeout: ["timeout", "--bad"],
  receive_window: ["receive window", "--s3"],
  rwin: ["receive window", "--s3"],
  send_buffer: ["send buffer", "--s4"],
  sender: ["application or send buffer", "--s4"],
  snd: ["application or send buffer", "--s4"],
  application: ["application", "--grid"],
  pacing: ["pacing", "--s2"],
  disk: ["disk", "--open"],
  closed: ["closed", "--raised"],
};

/** Returns a reason in words. */
export function reasonName(reason: string): string {
  return REASONS[reason]?.[0] ?? reason.replaceAll("_", " ");
}

/** Returns the CSS variable of a reason's colour. */
export function reasonColor(reason: string): string {
  return REASONS[reason]?.[1] ?? "--muted";
}
