"use strict";
// The source, with a mark at each line that something was made of.

function makeSource(model) {
  if (!model.source) return html("p", {}, "The module came without text: bytecode, or compiled code.");
  const pane = html("div", {
    class: "source",
    role: "region",
    "aria-label": `source, ${model.source.name}`,
    tabindex: 0,
  });
  const rows = model.source.lines.map((text, i) => {
    const line = i + 1;
    const made = model.atLine.get(line);
    const row = html(
      "div",
      { class: "line" },
      html("span", { class: "line-number", "aria-hidden": "true" }, String(line)),
    );
    if (made) {
      const dispatches = made.filter((each) => each.kind === "dispatch");
      const heat = dispatches.reduce((sum, each) => sum + model.dispatches[each.index].heat, 0);
      const words = [
        dispatches.length > 0 && counted(dispatches.length, "dispatch", "dispatches"),
        made.length > dispatches.length && counted(made.length - dispatches.length, "buffer", "buffers"),
      ]
        .filter(Boolean)
        .join(", ");
      row.classList.add("made");
      row.style.setProperty("--heat", Math.min(1, heat));
      row.append(
        html(
          "button",
          {
            class: "line-text",
            "aria-label": `line ${line}: ${words}. ${text.trim().slice(0, 120)}`,
            title: words,
            onclick: () => selectOf(made, line),
          },
          text || " ",
        ),
      );
    } else row.append(html("span", { class: "line-text" }, text || " "));
    return row;
  });
  pane.append(...rows);
  let lit = [];
  selection.listen(({ kind, index }, from) => {
    for (const row of lit) row.classList.remove("selected");
    const line =
      kind === "line" ? index : kind === "dispatch" ? model.dispatches[index]?.line : model.buffers[index]?.line;
    const row = line ? rows[line - 1] : null;
    lit = row ? [row] : [];
    if (!row) return;
    row.classList.add("selected");
    if (from !== "source") pane.scrollTop = row.offsetTop - pane.clientHeight / 3;
  });
  // The next thing of a line each time, dispatches first.
  function selectOf(made, line) {
    const current = selection.current;
    const position = made.findIndex((each) => each.kind === current?.kind && each.index === current?.index);
    const next = made[(position + 1) % made.length] ?? { kind: "line", index: line };
    selection.set(next.kind, next.index, "source");
  }
  return pane;
}
