"use strict";
// When what ran, on which thread: of a recorded profile, or of a file that `plimsoll run --trace` wrote.

/** Spans by row, in order, each with the depth at which it lies in others. Times in seconds. */
function arrangeSpans(rows, spans) {
  const arranged = rows.map((name) => ({ name, spans: [], depth: 0 }));
  for (const span of spans) arranged[span.row]?.spans.push(span);
  for (const row of arranged) {
    row.spans.sort((a, b) => a.begin - b.begin || b.end - a.end);
    const open = [];
    for (const span of row.spans) {
      while (open.length > 0 && open.at(-1) <= span.begin) open.pop();
      span.depth = open.length;
      open.push(span.end);
      row.depth = Math.max(row.depth, open.length);
    }
  }
  return arranged.filter((row) => row.spans.length > 0);
}

function timelineOfProfile(timeline) {
  const spans = timeline.spans.map(([what, row, begin, duration, first, last]) => ({
    ...timeline.names[what],
    row,
    begin: begin / 1e9,
    end: (begin + duration) / 1e9,
    workgroups: last > first ? [first, last] : null,
  }));
  return {
    rows: arrangeSpans(timeline.rows, spans),
    dropped: timeline.dropped_spans,
    leftOut: timeline.left_out_spans,
  };
}

/** The Chrome trace-event format; throws for what is none. */
function timelineOfTrace(text) {
  const trace = JSON.parse(text);
  const events = Array.isArray(trace) ? trace : trace.traceEvents;
  if (!Array.isArray(events)) throw new Error("it has no traceEvents");
  const rows = [],
    rowOf = new Map();
  const rowFor = (event) => {
    const key = `${event.pid} ${event.tid}`;
    if (!rowOf.has(key)) rowOf.set(key, rows.push(`thread ${event.tid}`) - 1);
    return rowOf.get(key);
  };
  const spans = [];
  for (const event of events) {
    if (event.ph === "M" && event.name === "thread_name") rows[rowFor(event)] = String(event.args?.name);
    if (event.ph !== "X") continue;
    const { first, last } = event.args ?? {};
    spans.push({
      name: String(event.name),
      kind: String(event.cat ?? ""),
      location: event.args?.source ?? "",
      row: rowFor(event),
      begin: event.ts / 1e6,
      end: (event.ts + (event.dur ?? 0)) / 1e6,
      workgroups: first === undefined ? null : [first, last + 1],
    });
  }
  return { rows: arrangeSpans(rows, spans), dropped: trace.otherData?.dropped_spans ?? 0, leftOut: 0 };
}

const isOfDispatch = (span) => span.kind === "dispatch" || span.kind === "range";

let timelineCount = 0; // on the page, for names of their parts
const spanHeight = 18,
  rowGap = 8,
  labelWidth = 110,
  axisHeight = 22;

function makeTimeline(model, timeline) {
  const spans = timeline.rows.flatMap((row) => row.spans);
  if (spans.length === 0) return html("p", {}, "The record has no spans.");
  const begin = spans.reduce((least, span) => Math.min(least, span.begin), Infinity);
  const end = spans.reduce((most, span) => Math.max(most, span.end), 0);
  const viewport = new Viewport(
    { x0: begin, x1: Math.max(end, begin + 1e-7), y0: 0, y1: 1 },
    { isFlat: true, leastWidth: 1e-7 },
  );
  const height = axisHeight + timeline.rows.reduce((sum, row) => sum + row.depth * spanHeight + rowGap, 0);
  const saidId = `timeline-span-${timelineCount++}`;
  const canvas = html("canvas", {
    class: "timeline",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "timeline",
    "aria-label": `timeline of ${counted(spans.length, "span", "spans")} on ${counted(timeline.rows.length, "thread", "threads")}: left and right go from span to span, up and down to other threads`,
    "aria-describedby": saidId,
  });
  const said = html("p", { id: saidId, role: "status", class: "hint" }, "Select a span, or move with the arrow keys.");
  const dispatchOf = new Map([...model.dispatches].reverse().map((dispatch) => [dispatch.name, dispatch])); // the first of a code
  const namesOfDispatches = [...new Set(spans.filter(isOfDispatch).map((span) => span.name))];
  const hueOf = new Map(namesOfDispatches.map((name, i) => [name, (130 + i * 137.5) % 360])); // far from its neighbours
  let current = null; // {row, position}
  const toX = (time) =>
    labelWidth + ((time - viewport.x0) / (viewport.x1 - viewport.x0)) * (canvas.clientWidth - labelWidth);

  function describe(span) {
    const workgroups = span.workgroups && `, workgroups ${span.workgroups[0]} to ${span.workgroups[1] - 1}`;
    return `${span.kind} ${span.name}: ${formatSeconds(span.end - span.begin)} from ${formatSeconds(span.begin - begin)} on${workgroups ?? ""}${span.location ? `, ${span.location}` : ""}`;
  }

  function select(rowIndex, position) {
    const row = timeline.rows[rowIndex];
    if (!row?.spans[position]) return;
    current = { row: rowIndex, position };
    const span = row.spans[position];
    said.textContent = describe(span);
    if (span.end < viewport.x0 || span.begin > viewport.x1) {
      const half = (viewport.x1 - viewport.x0) / 2;
      viewport.show((span.begin + span.end) / 2 - half, (span.begin + span.end) / 2 + half);
    }
    const dispatch = dispatchOf.get(span.name);
    if (dispatch && isOfDispatch(span)) selection.set("dispatch", dispatch.id, "timeline");
    draw();
  }

  function draw() {
    const width = canvas.clientWidth;
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    const color = (name) => style.getPropertyValue(name);
    context.scale(ratio, ratio);
    context.font = `12px ${style.fontFamily}`;
    context.textBaseline = "middle";
    context.fillStyle = color("--ink-minor");
    context.strokeStyle = color("--line");
    const step = tickStep(viewport.x1 - viewport.x0, Math.max(2, width / 130));
    const first = Math.ceil((viewport.x0 - begin) / step) * step;
    for (let time = first; time + begin <= viewport.x1; time += step) {
      const x = toX(time + begin);
      context.beginPath();
      context.moveTo(x, axisHeight - 4);
      context.lineTo(x, height);
      context.stroke();
      context.fillText(
        time === first ? formatSeconds(Math.max(0, time)) : `+${formatSeconds(time - first)}`,
        x + 3,
        axisHeight / 2,
      );
    }
    let top = axisHeight;
    timeline.rows.forEach((row, rowIndex) => {
      context.save();
      context.beginPath();
      context.rect(labelWidth, top, width - labelWidth, row.depth * spanHeight);
      context.clip();
      const drawnTo = new Array(row.depth).fill(-Infinity); // spans that end in the pixel of the last one are not seen
      row.spans.forEach((span, position) => {
        if (span.end < viewport.x0 || span.begin > viewport.x1) return;
        const x = toX(span.begin),
          spanWidth = Math.max(1, toX(span.end) - x);
        const isCurrent = current?.row === rowIndex && current.position === position;
        if (x + spanWidth < drawnTo[span.depth] + 0.5 && !isCurrent) return;
        drawnTo[span.depth] = x + spanWidth;
        const y = top + span.depth * spanHeight;
        context.fillStyle = isOfDispatch(span)
          ? `hsl(${hueOf.get(span.name)} ${color("--span-tone")})`
          : color(`--span-${span.kind}`) || color("--span-compile");
        context.fillRect(x, y, spanWidth, spanHeight - 2);
        if (isCurrent) {
          context.strokeStyle = color("--accent");
          context.lineWidth = 2;
          context.strokeRect(x + 1, y + 1, Math.max(1, spanWidth - 2), spanHeight - 4);
          context.lineWidth = 1;
        }
        if (spanWidth > 34) {
          context.fillStyle = color("--span-ink");
          context.save();
          context.beginPath();
          context.rect(Math.max(x, labelWidth), y, spanWidth, spanHeight);
          context.clip();
          const text = (isOfDispatch(span) && dispatchOf.get(span.name)?.label) || span.name;
          context.fillText(text, Math.max(x, labelWidth) + 4, y + spanHeight / 2 - 1);
          context.restore();
        }
      });
      context.restore();
      context.fillStyle = color("--ink");
      context.fillText(row.name, 4, top + spanHeight / 2 - 1, labelWidth - 8);
      top += row.depth * spanHeight + rowGap;
    });
  }

  canvas.addEventListener("keydown", (event) => {
    if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(event.key) || event.shiftKey) return;
    event.preventDefault();
    if (!current) return select(0, 0);
    if (event.key === "ArrowLeft" || event.key === "ArrowRight")
      return select(current.row, current.position + (event.key === "ArrowRight" ? 1 : -1));
    const next = current.row + (event.key === "ArrowDown" ? 1 : -1);
    const time = timeline.rows[current.row].spans[current.position].begin;
    const list = timeline.rows[next]?.spans;
    if (list)
      select(
        next,
        Math.max(
          0,
          list.findIndex((span) => span.begin >= time),
        ),
      );
  });
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const time =
      viewport.x0 + ((event.clientX - box.left - labelWidth) / (box.width - labelWidth)) * (viewport.x1 - viewport.x0);
    const slack = (viewport.x1 - viewport.x0) / box.width;
    let top = axisHeight;
    timeline.rows.forEach((row, rowIndex) => {
      const depth = Math.floor((event.clientY - box.top - top) / spanHeight);
      const position = row.spans.findIndex(
        (span) => span.depth === depth && span.begin - slack <= time && time <= span.end + slack,
      );
      if (depth >= 0 && position >= 0) select(rowIndex, position);
      top += row.depth * spanHeight + rowGap;
    });
  });
  const planeAt = (event) => {
    const box = canvas.getBoundingClientRect();
    return {
      x:
        viewport.x0 +
        ((event.clientX - box.left - labelWidth) / (box.width - labelWidth)) * (viewport.x1 - viewport.x0),
      y: 0,
    };
  };
  const controls = controlViewport(viewport, canvas, draw, planeAt, "the timeline");
  const calls = timeline.rows.flatMap((row) => row.spans.filter((span) => span.kind === "call"));
  const showCall = (call) => {
    const margin = (call.end - call.begin) * 0.03;
    viewport.show(call.begin - margin, call.end + margin);
    draw();
  };
  if (calls.length > 0) {
    const last = calls.reduce((latest, call) => (call.begin > latest.begin ? call : latest));
    const fastest = calls.reduce((least, call) => (call.end - call.begin < least.end - least.begin ? call : least));
    controls.push(html("button", { onclick: () => showCall(fastest) }, "fastest call"));
    controls.push(html("button", { onclick: () => showCall(last) }, "last call"));
    requestAnimationFrame(() => showCall(fastest)); // which has the least in it of what else the machine did
  }
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  const kinds = new Map();
  for (const span of spans) {
    const kind = kinds.get(span.kind) ?? { count: 0, seconds: 0 };
    kind.count += 1;
    kind.seconds += span.end - span.begin;
    kinds.set(span.kind, kind);
  }
  const lost = [
    timeline.dropped > 0 && `${timeline.dropped} spans had no room in the record`,
    timeline.leftOut > 0 && `${timeline.leftOut} spans in the middle are left out of the page`,
  ]
    .filter(Boolean)
    .join("; ");
  return html(
    "div",
    {},
    html("div", { class: "controls" }, controls),
    canvas,
    said,
    lost && html("p", { class: "hint" }, `${lost}.`),
    html(
      "details",
      {},
      html("summary", {}, "Kinds of spans"),
      table(
        "Time of all spans of a kind; spans lie in each other",
        ["kind", { text: "spans", isNumber: true }, { text: "time", isNumber: true }],
        [...kinds].map(([kind, { count, seconds }]) => ({ cells: [kind || "–", count, formatSeconds(seconds)] })),
      ),
    ),
  );
}
