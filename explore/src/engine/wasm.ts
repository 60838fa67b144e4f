import { Cancelled, Desk, EngineError, type Ask, type Engine, type Reply } from "./engine";

const STATELESS = new Set(["describe", "library", "check", "edit", "intervals"]);
const STOPPED = "The engine in this page has stopped. Reload the page: your scenario is kept in its address.";

const MISSING =
  "This page found no engine. Open the address that `elephan explore` has printed, with its token; a static site has its engine in wasm/elephan.wasm.";

/** What a worker says beside frames: the engine broke at a request, and another worker must take over. */
type Said = ArrayBuffer | { broken: string };

/** One worker with an engine in it. */
class Crew {
  readonly desk = new Desk();
  private readonly ready: Promise<void>;
  readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "engine" });

  constructor(module: Promise<WebAssembly.Module>, lose: (problem: string) => void, broken: (crew: Crew, problem: string) => void) {
    this.ready = module.then(
      (compiled) => this.worker.postMessage({ module: compiled }),
      () => lose(MISSING),
    );
    this.worker.onmessage = ({ data }: MessageEvent<Said>) => {
      if (data instanceof ArrayBuffer) this.desk.take(data);
      else broken(this, data.broken);
    };
    this.worker.onerror = () => lose(STOPPED);
  }

  send(request: object): void {
    void this.ready.then(() => this.worker.postMessage(request));
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
  /** Compiled once, for all workers. */
  private readonly module = WebAssembly.compileStreaming(fetch(new URL("./wasm/elephan.wasm", location.href)));
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
      (id) => crew.send({ head: JSON.stringify({ id, method, params }), payload: ask.payload ?? null }),
      () => {
        if (crew === this.runner && method === "run") this.replace(new Cancelled());
      },
    );
  }

  private crew(): Crew {
    return new Crew(
      this.module,
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
