"use strict";
// Puts the page together from the report in it.

function section(id, title, ...content) {
  return html("section", { id, "aria-labelledby": `${id}-title` }, html("h2", { id: `${id}-title` }, title), content);
}

function makeGraphs(model) {
  return model.functions
    .filter((each) => each.dispatches.length > 0)
    .map((each) => html("div", {}, html("h3", {}, `@${each.name}, ${each.kind}`), makeGraph(model, each)));
}

function makeDetail(model) {
  const detail = html("section", { id: "detail", "aria-label": "what is selected", "aria-live": "polite" });
  const hint = () => html("p", { class: "hint" }, "Nothing is selected. Select a dispatch, a buffer or a marked line.");
  detail.append(hint());
  selection.listen(({ kind, index }) => {
    if (kind === "dispatch" && model.dispatches[index])
      detail.replaceChildren(makeDispatchDetail(model, model.dispatches[index]));
    else if (kind === "buffer" && model.buffers[index])
      detail.replaceChildren(makeBufferDetail(model, model.buffers[index]));
    else if (kind === "line") detail.replaceChildren(html("h3", {}, `Line ${index}`), makeLineDetail(model, index));
    else detail.replaceChildren(hint());
  });
  return detail;
}

function makeBufferDetail(model, buffer) {
  const facts = [
    ["type", html("code", {}, buffer.type)],
    ["size", buffer.bytes === undefined ? "no bound" : `${formatBytes(buffer.bytes)}`],
    [
      "place",
      buffer.scope +
        (buffer.offset === undefined ? "" : ` at ${buffer.offset}`) +
        (buffer.slot === undefined ? "" : ", planned at the call"),
    ],
    ["reason", `${buffer.reason} (${buffer.level})`],
    ["could be in", (buffer.candidates ?? []).join(", ") || "nothing else"],
    ["access", accessOf(buffer)],
    [
      "from",
      buffer.line === null ? buffer.location || "no place" : linkTo("line", buffer.line, buffer.location, "detail"),
    ],
  ];
  if (buffer.lifetime)
    facts.push(["lives", `steps ${buffer.lifetime[0]} to ${buffer.lifetime[1]} of @${buffer.function}`]);
  return html(
    "div",
    {},
    html("h3", {}, `Buffer ${buffer.index}`),
    html(
      "dl",
      { class: "facts" },
      facts.map(([label, words]) => [html("dt", {}, label), html("dd", {}, words)]),
    ),
  );
}

function makeLineDetail(model, line) {
  const made = model.atLine.get(line) ?? [];
  if (made.length === 0)
    return html("p", {}, "Nothing was made of it by itself: it is part of something else, or needs no code.");
  return html(
    "ul",
    {},
    made.map(({ kind, index }) =>
      html(
        "li",
        {},
        kind === "dispatch"
          ? linkTo(
              kind,
              index,
              `dispatch ${numberOf(model, model.dispatches[index])} @${model.dispatches[index].name}`,
              "detail",
            )
          : [linkTo(kind, index, `buffer ${index}`, "detail"), ` ${model.buffers[index].type}`],
      ),
    ),
  );
}

function makePage(model) {
  const { report } = model;
  const timeline = model.profile?.timeline;
  const sections = [
    section("summary", "Summary", makeSummary(model)),
    model.dispatches.length > 0 && section("dispatches", "Dispatches", makeGraphs(model), makeDispatchTable(model)),
    model.profile && section("roofline", "Time and bandwidth against the machine", makeRoofline(model)),
    section(
      "timeline",
      "Timeline",
      timeline && makeTimeline(model, timelineOfProfile(timeline)),
      fileInput(
        "trace",
        timeline ? "Show another trace " : "Show a trace, which plimsoll run --trace writes ",
        ".json,application/json",
        (text) => makeTimeline(model, timelineOfTrace(text)),
      ),
    ),
    section("memory", "Memory", makeMemory(model)),
    section("buffers", "Buffers", makeBuffers(model)),
    section(
      "policies",
      "Policies",
      html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "policies" }, makePolicies(model)),
    ),
    section("limits", "Stack, data and copies", makeFindings(model)),
    section(
      "compare",
      "Beside another report",
      fileInput("other", "Compare with a page, or with what --json printed ", ".html,.json", (text) =>
        makeComparison(model, modelOf(reportIn(text))),
      ),
    ),
  ].filter(Boolean);
  document.title = `${report.module} – Plimsoll`;
  document.getElementById("header").append(
    html("h1", {}, report.module),
    html(
      "p",
      {},
      `for ${report.target}${report.machine ? `, ${report.machine}` : ""}; policy ${report.policies?.[0]?.policy ?? "unknown"}`,
    ),
    html(
      "nav",
      { "aria-label": "sections" },
      html(
        "ul",
        {},
        sections.map((each) =>
          html("li", {}, html("a", { href: `#${each.id}` }, each.querySelector("h2").textContent)),
        ),
      ),
    ),
  );
  document.getElementById("sections").append(...sections);
  document
    .getElementById("side")
    .append(makeDetail(model), html("h2", { id: "source-title" }, "Source"), makeSource(model));
  selection.readAddress();
  window.addEventListener("hashchange", () => selection.readAddress());
}

const model = modelOf(JSON.parse(document.getElementById("report").textContent));
makePage(model);
