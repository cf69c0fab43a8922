"use strict";
// Maps of memory: offsets upwards, the steps of the function to the right, a rectangle for each buffer that was planned.

const mapSize = { width: 900, height: 300, left: 72, bottom: 34, top: 8, right: 8 };

function makeMemoryMap(model, memory) {
  const buffers = memory.buffers.map((index) => model.buffers[index]);
  const viewport = new Viewport({
    x0: memory.begin,
    x1: Math.max(memory.end, memory.begin + 1),
    y0: 0,
    y1: Math.max(1, memory.peak_bytes),
  });
  const { width, height, left, bottom, top, right } = mapSize;
  const isLive = (buffer) =>
    buffer.lifetime[0] <= memory.fullest_position && memory.fullest_position < buffer.lifetime[1];
  const live = buffers.filter(isLive);
  const surface = svg("svg", {
    class: "map",
    viewBox: `0 0 ${width} ${height}`,
    tabindex: 0,
    role: "group",
    "aria-label":
      `${memory.name}: ${formatBytes(memory.peak_bytes)}, of which ${formatBytes(memory.lower_bound_bytes)} are live at once ` +
      `in ${counted(live.length, "buffer", "buffers")} at step ${memory.fullest_position}`,
  });
  const toX = (step) => left + ((step - viewport.x0) / (viewport.x1 - viewport.x0)) * (width - left - right);
  const toY = (offset) =>
    height - bottom - ((offset - viewport.y0) / (viewport.y1 - viewport.y0)) * (height - bottom - top);
  let selected = new Set();

  function axes() {
    const parts = [];
    const step = Math.max(1, tickStep(viewport.x1 - viewport.x0, 10));
    for (let x = Math.ceil(viewport.x0 / step) * step; x <= viewport.x1; x += step)
      parts.push(svg("text", { x: toX(x), y: height - bottom + 14, "text-anchor": "middle" }, String(x)));
    const bytes = tickStep(viewport.y1 - viewport.y0, 5, true);
    for (let y = Math.ceil(viewport.y0 / bytes) * bytes; y <= viewport.y1; y += bytes)
      parts.push(
        svg("line", { x1: left, x2: width - right, y1: toY(y), y2: toY(y) }),
        svg("text", { x: left - 5, y: toY(y) + 4, "text-anchor": "end" }, formatBytes(y)),
      );
    parts.push(
      svg("text", { x: (left + width) / 2, y: height - 5, "text-anchor": "middle" }, `steps of @${memory.function}`),
    );
    return svg("g", { class: "axis", "aria-hidden": "true" }, parts);
  }

  function draw() {
    const boxes = buffers
      .filter(
        (each) =>
          each.lifetime[1] > viewport.x0 &&
          each.lifetime[0] < viewport.x1 &&
          each.offset + each.bytes > viewport.y0 &&
          each.offset < viewport.y1,
      )
      .map((buffer) => {
        const x = toX(buffer.lifetime[0]),
          y = toY(buffer.offset + buffer.bytes);
        const boxWidth = Math.max(1.5, toX(buffer.lifetime[1]) - x),
          boxHeight = Math.max(1.5, toY(buffer.offset) - y);
        const words =
          `buffer ${buffer.index}, ${buffer.type}: ${formatBytes(buffer.bytes)} at ${buffer.offset}, ` +
          `steps ${buffer.lifetime[0]} to ${buffer.lifetime[1]}, from ${buffer.location}${isLive(buffer) ? "; live when the most is" : ""}`;
        const label =
          boxWidth > 90 &&
          boxHeight > 13 &&
          svg(
            "text",
            { x: Math.max(x, left) + 4, y: Math.min(y + boxHeight / 2 + 4, height - bottom - 3) },
            `${buffer.index}: ${formatBytes(buffer.bytes)}`,
          );
        return svg(
          "g",
          {
            class: `box${isLive(buffer) ? " live" : ""}${selected.has(buffer.index) ? " selected" : ""}`,
            onclick: () => selection.set("buffer", buffer.index, "map"),
          },
          svg("rect", { x, y, width: boxWidth, height: boxHeight }),
          label,
          svg("title", {}, words),
        );
      });
    const peak = toX(memory.fullest_position + 0.5);
    surface.replaceChildren(
      svg(
        "defs",
        {},
        svg(
          "clipPath",
          { id: `clip-${memory.id}` },
          svg("rect", { x: left, y: top, width: width - left - right, height: height - bottom - top }),
        ),
      ),
      axes(),
      svg(
        "g",
        { "clip-path": `url(#clip-${memory.id})` },
        boxes,
        svg("line", { class: "peak", x1: peak, x2: peak, y1: top, y2: height - bottom }),
      ),
    );
  }
  const planeAt = (event) => {
    const box = surface.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width,
      y = ((event.clientY - box.top) / box.height) * height;
    return {
      x: viewport.x0 + ((x - left) / (width - left - right)) * (viewport.x1 - viewport.x0),
      y: viewport.y0 + ((height - bottom - y) / (height - bottom - top)) * (viewport.y1 - viewport.y0),
    };
  };
  const controls = controlViewport(viewport, surface, draw, planeAt, memory.name);
  selection.listen(({ kind, index }) => {
    selected = new Set(kind === "buffer" ? [index] : kind === "dispatch" ? model.dispatches[index]?.buffers : []);
    draw();
  });
  draw();
  return html(
    "figure",
    { class: "memory" },
    html(
      "figcaption",
      {},
      html("strong", {}, memory.name),
      `: ${formatBytes(memory.peak_bytes)}; ${formatBytes(memory.lower_bound_bytes)} are live at once, ` +
        `at step ${memory.fullest_position}, in the buffers with a thick edge`,
    ),
    html("div", { class: "controls" }, controls),
    html("div", { class: "scroll" }, surface),
    html(
      "details",
      {},
      html("summary", {}, `Live when the most is: ${counted(live.length, "buffer", "buffers")}`),
      html(
        "ul",
        {},
        [...live]
          .sort((a, b) => b.bytes - a.bytes)
          .map((buffer) =>
            html(
              "li",
              {},
              linkTo("buffer", buffer.index, `buffer ${buffer.index}`, "map"),
              ` ${formatBytes(buffer.bytes)}, ${buffer.type}, from ${buffer.location}`,
            ),
          ),
      ),
    ),
  );
}

/** What the module puts into each memory of the target. */
function makeLayouts(model) {
  return (model.report.layout ?? [])
    .filter((layout) => layout.parts.length > 0)
    .map((layout) =>
      table(
        `Memory ${layout.memory} of the target, ${layout.kind}: ${formatBytes(layout.used_bytes)}` +
          (layout.bytes > 0 ? ` of ${formatBytes(layout.bytes)}` : ""),
        [{ text: "offset", isNumber: true }, { text: "bytes", isNumber: true }, "what"],
        layout.parts.map((part) => ({
          cells: [String(part.offset), String(part.bytes), part.name ? `${part.what} @${part.name}` : part.what],
        })),
        { class: "layout" },
      ),
    );
}

/** The slabs and pools of functions are drawn; what single dispatches have, which is many and small, when it is asked for. */
function makeMemory(model) {
  const memories = (model.report.memories ?? []).map((memory, id) => ({ ...memory, id }));
  if (memories.length === 0)
    return html(
      "div",
      {},
      html(
        "p",
        {},
        "Nothing was planned at load: buffers are on the stack, from the allocator, or planned at the call.",
      ),
      makeLayouts(model),
    );
  const isOfFunction = (memory) => model.functions.some((each) => each.name === memory.function);
  const ofDispatches = memories.filter((memory) => !isOfFunction(memory)).sort((a, b) => b.peak_bytes - a.peak_bytes);
  return html(
    "div",
    {},
    memories.filter(isOfFunction).map((memory) => makeMemoryMap(model, memory)),
    ofDispatches.length > 0 && html("h3", {}, "Scratch of dispatches, of each thread that runs them"),
    ofDispatches.map((memory) => {
      const details = html(
        "details",
        {},
        html("summary", {}, `@${memory.function}: ${formatBytes(memory.peak_bytes)}`),
      );
      details.addEventListener("toggle", () => details.append(makeMemoryMap(model, memory)), { once: true });
      return details;
    }),
    makeLayouts(model),
  );
}

/** Where each buffer lives, what it is used for, and why. */
function makeBuffers(model) {
  if (model.buffers.length === 0) return html("p", {}, "The module allocates nothing.");
  const rows = model.buffers.map((buffer) =>
    html(
      "tr",
      { id: `row-buffer-${buffer.index}` },
      html("th", { scope: "row" }, linkTo("buffer", buffer.index, String(buffer.index), "buffers")),
      html("td", {}, html("code", {}, buffer.type)),
      html("td", { class: "number" }, buffer.bytes === undefined ? "no bound" : formatBytes(buffer.bytes)),
      html(
        "td",
        {},
        buffer.scope.replace(/^global\./, ""),
        buffer.offset !== undefined && ` at ${buffer.offset}`,
        buffer.slot !== undefined && ", planned at the call",
      ),
      html("td", { class: "reason" }, `${buffer.reason} (${buffer.level})`),
      html("td", { class: "reason" }, accessOf(buffer)),
      html("td", {}, (buffer.accessors ?? []).join(", ")),
      html("td", {}, `@${buffer.function}`),
      html(
        "td",
        {},
        buffer.line === null ? buffer.location || "–" : linkTo("line", buffer.line, buffer.location, "buffers"),
      ),
    ),
  );
  const scroller = html(
    "div",
    { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "buffers, a table" },
    html(
      "table",
      {},
      html("caption", {}, "Buffers that the module allocates"),
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          ["buffer", "type", "bytes", "place", "reason (who decided)", "access", "used by", "function", "source"].map(
            (text) => html("th", { scope: "col", class: text === "bytes" ? "number" : null }, text),
          ),
        ),
      ),
      html("tbody", {}, rows),
    ),
  );
  let lit = [];
  selection.listen(({ kind, index }, from) => {
    for (const row of lit) row.classList.remove("selected");
    lit = (kind === "buffer" ? [index] : kind === "dispatch" ? (model.dispatches[index]?.buffers ?? []) : [])
      .map((each) => rows[each])
      .filter(Boolean);
    for (const row of lit) row.classList.add("selected");
    if (lit[0] && from !== "buffers") scroller.scrollTop = lit[0].offsetTop - scroller.clientHeight / 3;
  });
  return scroller;
}

/** Who writes it and who reads it: "written by #0, read by #1, #2". */
function accessOf(buffer) {
  const does = (access) =>
    buffer.users.filter((dispatch) =>
      dispatch.bindings.some(
        (binding) =>
          binding.buffers?.includes(buffer.index) && (binding.access === access || binding.access === "readwrite"),
      ),
    );
  const list = (words, dispatches) =>
    dispatches.length === 0
      ? null
      : [
          words,
          dispatches
            .slice(0, 4)
            .map((dispatch, i) => [
              i > 0 ? ", " : "",
              linkTo("dispatch", dispatch.id, `#${dispatch.position}`, "buffers"),
            ]),
          dispatches.length > 4 && ` and ${dispatches.length - 4} more`,
        ];
  const written = list("written by ", does("writeonly")),
    read = list("read by ", does("readonly"));
  return html("span", {}, written, written && read && "; ", read);
}
