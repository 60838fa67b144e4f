import { Desk, EngineError, type Ask, type Engine, type Head, type Reply } from "./engine";

const LOST =
  "The elephan server has stopped answering. Nothing is lost: your scenario is in the address of this page. " +
  "Start `elephan explore` again and open the address that it prints, or wait until this server is back.";
const AGAIN_MS = 3000;
/** Codes with which the server closes for good: the token is wrong, or it has no engine. */
const FOR_GOOD = [4401, 4403, 4404, 4408];

/** The engine on this machine, over one WebSocket. It connects again by itself. */
export class Native implements Engine {
  readonly kind = "native";
  private readonly desk = new Desk();
  private readonly listeners: ((problem: string | null) => void)[] = [];
  private open: Promise<WebSocket> | null = null;
  private greeted: Head = {};
  private lost = false;
  private ended = false;

  constructor(
    private readonly address: string,
    private readonly token: string,
  ) {}

  onState(listener: (problem: string | null) => void): void {
    this.listeners.push(listener);
  }

  /** Connects, and returns what the server says first. */
  async hello(): Promise<Head> {
    await this.connect();
    return this.greeted;
  }

  end(): void {
    this.ended = true;
  }

  async request(method: string, params: object = {}, ask: Ask = {}): Promise<Reply> {
    const socket = await this.connect();
    return this.desk.open(
      ask,
      (id) => {
        socket.send(JSON.stringify({ id, method, params, ...(ask.payload ? { payload: ask.payload.byteLength } : {}) }));
        if (ask.payload) socket.send(ask.payload);
      },
      (id) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id: `cancel ${id}`, method: "cancel", params: { id } }));
      },
    );
  }

  private connect(): Promise<WebSocket> {
    this.open ??= new Promise((resolve, reject) => {
      const socket = new WebSocket(this.address);
      socket.binaryType = "arraybuffer";
      socket.onmessage = (event: MessageEvent<ArrayBuffer>) => this.desk.take(event.data);
      socket.onopen = () => {
        const send = (id: number) => socket.send(JSON.stringify({ id, method: "hello", params: { token: this.token } }));
        this.desk.open({}, send, () => undefined).then(
          ({ head }) => {
            this.greeted = head;
            if (this.lost) this.tell(null);
            this.lost = false;
            resolve(socket);
          },
          (error: Error) => {
            this.ended = true;
            reject(error);
          },
        );
      };
      socket.onclose = (event) => {
        this.open = null;
        if (FOR_GOOD.includes(event.code)) this.ended = true;
        reject(new EngineError(LOST));
        this.desk.fail(new EngineError(LOST));
        if (this.ended) return;
        if (!this.lost) this.tell(LOST);
        this.lost = true;
        setTimeout(() => this.connect().catch(() => undefined), AGAIN_MS);
      };
    });
    return this.open;
  }

  private tell(problem: string | null): void {
    for (const listener of this.listeners) listener(problem);
  }
}
