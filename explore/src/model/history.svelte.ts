/** What undo and redo walk along. Changes of one gesture are one step. */
export class History<T> {
  private past = $state.raw<T[]>([]);
  private future = $state.raw<T[]>([]);
  private gesture: string | null = null;
  now: T = $state.raw(undefined as T);

  constructor(start: T) {
    this.now = start;
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }
  get canRedo(): boolean {
    return this.future.length > 0;
  }

  /** Sets the present. What comes with the same `gesture` as the change before belongs to one step. */
  set(value: T, gesture: string | null = null): boolean {
    const begins = gesture === null || gesture !== this.gesture;
    if (begins) this.past = [...this.past.slice(-199), this.now];
    this.gesture = gesture;
    this.future = [];
    this.now = value;
    return begins;
  }

  /** The next change begins a new step. */
  settle(): void {
    this.gesture = null;
  }

  undo(): boolean {
    if (!this.canUndo) return false;
    this.future = [this.now, ...this.future];
    this.now = this.past.at(-1)!;
    this.past = this.past.slice(0, -1);
    this.gesture = null;
    return true;
  }

  redo(): boolean {
    if (!this.canRedo) return false;
    this.past = [...this.past, this.now];
    this.now = this.future[0]!;
    this.future = this.future.slice(1);
    this.gesture = null;
    return true;
  }
}
