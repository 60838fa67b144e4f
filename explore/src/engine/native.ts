import { Desk, EngineError, type Ask, type Engine, type Reply } from "./engine";

const LOST =
  "The elephan server has stopped answering. Your scenario is kept in the address of this page: " +
  "start `elephan explore` again and open that address, or wait until the server is back.";

/** The engine on this machine, over one WebSocket. It connects again by itself. */
export class Native implements Engine {
  readonly kind = "native";
  private readonly desk = new Desk();
  private readonly listeners: ((problem: string | null) => void)[] = [];
  private socket: WebSocket | null = null;
  private open: Promise<WebSocket> | null = null;
  private lost = false;

  constructor(
    private readonly address: string,
    private readonly token: string,
  ) {}

  onState(listener: (problem: string | null) => void): void {
    this.listeners.push(listener);
  }

  async request(method: string, params: object = {}, ask: Ask = {}): Promise<Reply> {
    const socket = await this.connect();
    return this.desk.open(
      ask,
      (id) => {
        const head = { id, method, params, ...(ask.payload ? { payload: ask.payload.byteLength } : {}) };
        socket.send(JSON.stringify(head));
        if (ask.payload) socket.send(ask.payload);
      },
      (id) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id: 0, method: "cancel", params: { id } }));
      },
    );
  }

  private connect(): Promise<WebSocket> {
    this.open ??= new Promise((resolve, reject) => {
      const socket = new WebSocket(this.address);
      socket.binaryType = "arraybuffer";
      socket.onopen = () => {
        socket.send(JSON.stringify({ token: this.token }));
        this.socket = socket;
        if (this.lost) this.tell(null);
        this.lost = false;
        resolve(socket);
      };
      socket.onmessage = (event: MessageEvent<ArrayBuffer>) => this.desk.take(event.data);
      socket.onclose = () => {
        this.open = null;
        this.socket = null;
        reject(new EngineError(LOST));
        this.desk.fail(new EngineError(LOST));
        if (!this.lost) this.tell(LOST);
        this.lost = true;
        setTimeout(() => this.socket ?? this.connect().catch(() => undefined), 3000);
      };
    });
    return this.open;
  }

  private tell(problem: string | null): void {
    for (const listener of this.listeners) listener(problem);
  }
}
