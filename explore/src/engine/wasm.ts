import { Cancelled, Desk, EngineError, type Ask, type Engine, type Reply } from "./engine";

const STATELESS = new Set(["describe", "library", "check", "edit"]);
const STOPPED = "The engine in this page has stopped. Reload the page: your scenario is kept in its address.";

/** What a worker says beside frames: it has no engine, or the engine broke at a request and another worker must take over. */
type Said = ArrayBuffer | { lost: string } | { broken: string };

/** One worker with an engine in it. */
class Crew {
  readonly desk = new Desk();
  readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "engine" });

  constructor(lose: (problem: string) => void, broken: (crew: Crew, problem: string) => void) {
    this.worker.onmessage = ({ data }: MessageEvent<Said>) => {
      if (data instanceof ArrayBuffer) this.desk.take(data);
      else if ("lost" in data) lose(data.lost);
      else broken(this, data.broken);
    };
    this.worker.onerror = () => lose(STOPPED);
  }

  end(error: Error): void {
    this.worker.terminate();
    this.desk.fail(error);
  }
}

/**
 * The engine compiled to WebAssembly. One worker answers what needs no run, one runs.
 * A run that is taken back ends its worker, and the spare one takes over.
 */
export class Wasm implements Engine {
  readonly kind = "wasm";
  private readonly listeners: ((problem: string | null) => void)[] = [];
  private clerk = this.crew();
  private runner = this.crew();
  private spare: Crew | null = null;

  onState(listener: (problem: string | null) => void): void {
    this.listeners.push(listener);
  }

  request(method: string, params: object = {}, ask: Ask = {}): Promise<Reply> {
    const crew = STATELESS.has(method) ? this.clerk : this.runner;
    return crew.desk.open(
      ask,
      (id) => crew.worker.postMessage({ head: JSON.stringify({ id, method, params }), payload: ask.payload ?? null }),
      () => {
        if (crew === this.runner && method === "run") this.replace(new Cancelled());
      },
    );
  }

  private crew(): Crew {
    return new Crew(
      (problem) => {
        for (const listener of this.listeners) listener(problem);
        this.clerk.end(new EngineError(problem));
        this.runner.end(new EngineError(problem));
      },
      (crew, problem) => {
        if (crew === this.runner) return this.replace(new EngineError(problem));
        crew.end(new EngineError(problem));
        this.clerk = this.crew();
      },
    );
  }

  private replace(why: Error): void {
    this.runner.end(why);
    this.runner = this.spare ?? this.crew();
    this.spare = this.crew();
  }
}
