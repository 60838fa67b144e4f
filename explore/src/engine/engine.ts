// The one interface between the page and what answers it: requests with replies, native or WebAssembly.

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Head = Record<string, any>;
export type Reply = { head: Head; body: ArrayBuffer };
export type Ask = {
  payload?: ArrayBuffer;
  onPiece?: (reply: Reply) => void;
  signal?: AbortSignal;
};

export interface Engine {
  readonly kind: "native" | "wasm";
  request(method: string, params?: object, ask?: Ask): Promise<Reply>;
  /** Is called with a sentence when the engine is lost, with null when it is back. */
  onState(listener: (problem: string | null) => void): void;
}

/** What the engine itself says is wrong: a sentence, and the line of the text where there is one. */
export class EngineError extends Error {
  constructor(
    message: string,
    readonly head: Head = {},
  ) {
    super(message);
  }
}

/** A request that the page itself took back. */
export class Cancelled extends Error {
  constructor() {
    super("cancelled");
  }
}

/** Returns the reply in a frame: u32 length of the head, the head as JSON, the body. */
export function unframe(frame: ArrayBuffer): Reply {
  const length = new DataView(frame).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, length))) as Head;
  return { head, body: frame.slice(4 + length) };
}

type Waiting = { ask: Ask; resolve: (reply: Reply) => void; reject: (error: Error) => void; stop?: () => void };

/** The requests under way, by number; both engines hand their frames to it. */
export class Desk {
  private next = 1;
  private readonly waiting = new Map<number, Waiting>();

  open(ask: Ask, send: (id: number) => void, cancel: (id: number) => void): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (ask.signal?.aborted) return reject(new Cancelled());
      const id = this.next++;
      const entry: Waiting = { ask, resolve, reject };
      if (ask.signal) {
        const stop = () => {
          this.waiting.delete(id);
          cancel(id);
          reject(new Cancelled());
        };
        ask.signal.addEventListener("abort", stop, { once: true });
        entry.stop = () => ask.signal?.removeEventListener("abort", stop);
      }
      this.waiting.set(id, entry);
      send(id);
    });
  }

  take(frame: ArrayBuffer): void {
    const reply = unframe(frame);
    const id = Number(reply.head.id);
    const entry = this.waiting.get(id);
    if (!entry) return;
    if (reply.head.kind === "piece") {
      entry.ask.onPiece?.(reply);
      return;
    }
    this.waiting.delete(id);
    entry.stop?.();
    if (reply.head.kind === "error") entry.reject(new EngineError(String(reply.head.message), reply.head));
    else entry.resolve(reply);
  }

  fail(error: Error): void {
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const entry of all) {
      entry.stop?.();
      entry.reject(error);
    }
  }
}
