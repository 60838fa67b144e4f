// The scenario as text: CodeMirror in a shadow root, so that a strict content security policy lets its styles in.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Trouble } from "../model/session.svelte";

export type Editor = { show(text: string): void; mark(errors: Trouble[]): void; go(line: number): void; destroy(): void };

const colors = HighlightStyle.define([
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.string, tags.number, tags.bool, tags.atom], color: "var(--accent)" },
  { tag: [tags.propertyName, tags.keyword], color: "var(--ink)" },
  { tag: tags.bracket, color: "var(--muted)" },
]);

const theme = EditorView.theme({
  "&": { backgroundColor: "var(--paper)", color: "var(--ink)", fontSize: "13px", height: "100%" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", "Liberation Mono", monospace', lineHeight: "1.55" },
  ".cm-gutters": { backgroundColor: "var(--paper)", color: "var(--muted)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--raised)" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)", textUnderlineOffset: "3px" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)", maxWidth: "44em" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
});

/** Makes an editor in an element. `typed` is called with the text a moment after a person has changed it. */
export function makeEditor(element: HTMLElement, text: string, typed: (text: string) => void): Editor {
  const root = element.attachShadow({ mode: "open" });
  const mount = document.createElement("div");
  mount.style.height = "100%";
  root.append(mount);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let own = false;
  const view = new EditorView({
    root,
    parent: mount,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        StreamLanguage.define(toml),
        syntaxHighlighting(colors),
        theme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Scenario in TOML", tabindex: "0" }),
        keymap.of([...defaultKeymap, ...historyKeymap, { ...indentWithTab, shift: undefined, key: "Ctrl-]" }]),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || own) return;
          clearTimeout(timer);
          timer = setTimeout(() => typed(view.state.doc.toString()), 180);
        }),
      ],
    }),
  });
  return {
    show(next) {
      const now = view.state.doc.toString();
      if (next === now || (view.hasFocus && timer !== undefined && now !== next && document.activeElement === element)) return;
      let from = 0;
      while (from < now.length && from < next.length && now[from] === next[from]) from++;
      let tail = 0;
      while (tail < now.length - from && tail < next.length - from && now.at(-1 - tail) === next.at(-1 - tail)) tail++;
      own = true;
      view.dispatch({ changes: { from, to: now.length - tail, insert: next.slice(from, next.length - tail) } });
      own = false;
    },
    mark(errors) {
      const doc = view.state.doc;
      const marks = errors.flatMap((e) => {
        if (!e.line || e.line > doc.lines) return [];
        const line = doc.line(e.line);
        const from = Math.min(line.to, line.from + Math.max(0, (e.column ?? 1) - 1));
        return [{ from, to: Math.max(line.to, from), severity: "error" as const, message: e.message }];
      });
      view.dispatch(setDiagnostics(view.state, marks));
    },
    go(line) {
      const at = view.state.doc.line(Math.min(line, view.state.doc.lines)).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    destroy() {
      clearTimeout(timer);
      view.destroy();
    },
  };
}
