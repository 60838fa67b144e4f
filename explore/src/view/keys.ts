// The keyboard of the workbench. Keys that a field of the page uses itself stay with it.
import type { Session } from "../model/session.svelte";

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable || target.shadowRoot !== null);

export function keys(event: KeyboardEvent, session: Session): void {
  const command = event.ctrlKey || event.metaKey;
  const field = typing(event.target);
  const slider = event.target instanceof HTMLInputElement && event.target.type === "range";
  if (command && event.key.toLowerCase() === "z" && (!field || slider)) {
    event.preventDefault();
    if (event.shiftKey) session.redo();
    else session.undo();
    return;
  }
  if (command && event.key.toLowerCase() === "y" && (!field || slider)) {
    event.preventDefault();
    session.redo();
    return;
  }
  if (command || event.altKey || field) return;
  const { from_ns, to_ns } = session.view;
  const width = to_ns - from_ns;
  const at = session.cursor_ns ?? from_ns + width / 2;
  const zoom = (factor: number) => session.zoom({ from_ns: at - (at - from_ns) * factor, to_ns: at + (to_ns - at) * factor });
  const move = (by: number) => {
    session.cursor_ns = Math.min(to_ns, Math.max(from_ns, at + by * width));
  };
  const acts: Record<string, () => void> = {
    ArrowLeft: () => (event.shiftKey ? session.zoom({ from_ns: from_ns - width / 4, to_ns: to_ns - width / 4 }) : move(-0.005)),
    ArrowRight: () => (event.shiftKey ? session.zoom({ from_ns: from_ns + width / 4, to_ns: to_ns + width / 4 }) : move(0.005)),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    "0": () => session.zoom(null),
    p: () => session.pin(),
    "/": () => document.getElementById("search")?.focus(),
    Escape: () => (session.cursor_ns = null),
  };
  const act = acts[event.key];
  if (!act || (event.target instanceof HTMLElement && event.target.closest("[role=tablist], details.menu"))) return;
  event.preventDefault();
  act();
}
