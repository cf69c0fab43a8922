"use strict";
// The dispatches as a table that can be sorted and filtered, and one of them in full.

function dispatchColumns(model) {
  const ceilings = model.profile?.ceilings;
  const measured = (value) => (dispatch) => (dispatch.measured ? value(dispatch) : NaN);
  const columns = [
    {
      text: "dispatch",
      value: (dispatch) => dispatch.id,
      show: (dispatch) =>
        linkTo("dispatch", dispatch.id, `${numberOf(model, dispatch)} ${dispatch.label}`, "dispatches"),
    },
    { text: "device", value: (dispatch) => dispatch.device, show: (dispatch) => dispatch.device },
    { text: "source", value: (dispatch) => dispatch.line ?? 0, show: (dispatch) => dispatch.location || "–" },
    {
      text: "bytes",
      isNumber: true,
      value: (dispatch) => dispatch.bytes,
      show: (dispatch) => (dispatch.isOpen && !dispatch.measured ? "≥ " : "") + formatBytes(dispatch.bytes),
    },
  ];
  if (model.dispatches.some((dispatch) => dispatch.operations))
    columns.push({
      text: "operations",
      isNumber: true,
      value: (dispatch) => dispatch.operations ?? NaN,
      show: (dispatch) => (dispatch.operations === undefined ? "–" : formatCount(dispatch.operations)),
    });
  if (!model.profile) return columns;
  return [
    ...columns,
    {
      text: "time",
      title: "of a run, at its fastest",
      isNumber: true,
      value: measured((dispatch) => dispatch.seconds),
      show: measured((dispatch) => formatSeconds(dispatch.seconds)),
    },
    {
      text: "share",
      title: "of the time of all dispatches",
      isNumber: true,
      value: measured((dispatch) => dispatch.share),
      show: measured((dispatch) => bar(dispatch.share, formatShare(dispatch.share))),
    },
    {
      text: "GB/s",
      isNumber: true,
      value: measured(bandwidthOf),
      show: measured((dispatch) => formatNumber(bandwidthOf(dispatch))),
    },
    {
      text: "of memory",
      title: "of the bandwidth of the memory; more where the data stays in the caches",
      isNumber: true,
      value: measured((dispatch) => bandwidthOf(dispatch) / ceilings.memory_gbps),
      show: measured((dispatch) => formatShare(bandwidthOf(dispatch) / ceilings.memory_gbps)),
    },
    {
      text: "Gop/s",
      isNumber: true,
      value: measured((dispatch) => rateOf(dispatch)),
      show: (dispatch) => (dispatch.measured && dispatch.operations ? formatNumber(rateOf(dispatch)) : "–"),
    },
    {
      text: "of products",
      title: "of the operations a second that a product of matrices reaches",
      isNumber: true,
      value: measured((dispatch) => rateOf(dispatch) / ceilings.product_gops),
      show: (dispatch) =>
        dispatch.measured && dispatch.operations ? formatShare(rateOf(dispatch) / ceilings.product_gops) : "–",
    },
  ];
}

function bandwidthOf(dispatch) {
  return dispatch.bytes / dispatch.seconds / 1e9;
}

function rateOf(dispatch) {
  return (dispatch.operations ?? NaN) / dispatch.seconds / 1e9;
}

/** "1.5 G": of operations. */
function formatCount(count) {
  const units = ["", " k", " M", " G", " T"];
  let unit = 0;
  for (; count >= 1000 && unit + 1 < units.length; ++unit) count /= 1000;
  return formatNumber(count) + units[unit];
}

function makeDispatchTable(model) {
  const columns = dispatchColumns(model);
  let order = {
    column: model.profile ? columns.findIndex((column) => column.text === "time") : 0,
    isDescending: Boolean(model.profile),
  };
  const rowOf = new Map(
    model.dispatches.map((dispatch) => [
      dispatch.id,
      html(
        "tr",
        { id: `row-dispatch-${dispatch.id}` },
        columns.map((column, i) =>
          html(
            i === 0 ? "th" : "td",
            { scope: i === 0 ? "row" : null, class: column.isNumber ? "number" : null },
            dispatch.measured || !Number.isNaN(column.value(dispatch)) ? column.show(dispatch) : "–",
          ),
        ),
      ),
    ]),
  );
  const body = html("tbody");
  const heads = columns.map((column, i) =>
    html(
      "th",
      { scope: "col", class: column.isNumber ? "number" : null, title: column.title },
      html(
        "button",
        {
          class: "sort",
          onclick: () => {
            order = { column: i, isDescending: order.column === i ? !order.isDescending : Boolean(column.isNumber) };
            show();
          },
        },
        column.text,
      ),
    ),
  );
  const found = html("span", { role: "status" });
  const filter = html("input", {
    type: "search",
    id: "filter",
    placeholder: "name, device, source line",
    oninput: show,
  });

  function show() {
    const { value } = columns[order.column];
    const wanted = filter.value.trim().toLowerCase();
    const list = model.dispatches.filter(
      (dispatch) =>
        wanted === "" ||
        `${numberOf(model, dispatch)} ${dispatch.name} ${dispatch.device} ${dispatch.location}`
          .toLowerCase()
          .includes(wanted),
    );
    const sign = order.isDescending ? -1 : 1;
    list.sort((a, b) => {
      const x = value(a),
        y = value(b);
      if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
      return (x < y ? -sign : x > y ? sign : 0) || a.id - b.id;
    });
    body.replaceChildren(...list.map((dispatch) => rowOf.get(dispatch.id)));
    heads.forEach((head, i) => {
      if (i === order.column) head.setAttribute("aria-sort", order.isDescending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    found.textContent = wanted ? counted(list.length, "dispatch", "dispatches") : "";
  }

  const scroller = html(
    "div",
    { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "dispatches, a table" },
    html(
      "table",
      { class: "dispatches" },
      html("caption", {}, "Dispatches"),
      html("thead", {}, html("tr", {}, heads)),
      body,
    ),
  );
  let lit = [];
  selection.listen(({ kind, index }, from) => {
    for (const row of lit) row.classList.remove("selected");
    const ids =
      kind === "dispatch"
        ? [index]
        : kind === "buffer"
          ? (model.buffers[index]?.users ?? []).map((each) => each.id)
          : [];
    lit = ids.map((id) => rowOf.get(id)).filter(Boolean);
    for (const row of lit) row.classList.add("selected");
    if (lit[0] && from !== "dispatches") scroller.scrollTop = lit[0].offsetTop - scroller.clientHeight / 3;
  });
  show();
  return html(
    "div",
    {},
    html("div", { class: "controls" }, html("label", { for: "filter" }, "Show only "), filter, " ", found),
    scroller,
  );
}

/** "12 rows by 32 columns, ...", as explain prints it. */
function wordsOf(decision) {
  const extents = (list) => (list ?? []).map((extent) => (extent === 0 ? "all" : extent)).join(" × ");
  switch (decision.what) {
    case "workgroups":
      return `workgroups of ${extents(decision.tiles)} iterations`;
    case "stores":
      return "stores past the caches";
    case "panels":
      return (
        `panels of ${extents(decision.depth)} terms by ${decision.columns || "all"} columns, ` +
        `${decision.panel.replaceAll("_", " ")}, rows ${decision.rows.replaceAll("_", " ")}` +
        (decision.lines > 1 ? `, ${decision.lines} lines together` : "")
      );
    case "registers":
      return (
        `registers of ${decision.rows} rows by ${decision.columns} columns, in vectors of ${decision.lanes} elements` +
        (decision.terms > 0 ? `, ${decision.terms} terms at a time` : "")
      );
    default:
      return decision.what;
  }
}

function makeDispatchDetail(model, dispatch) {
  const commas = (parts) => parts.map((part, i) => [i > 0 ? ", " : "", part]);
  const facts = [
    ["on", dispatch.device + (dispatch.refusal ? `; not on ${dispatch.refusal}` : "")],
    [
      "from",
      dispatch.line === null
        ? dispatch.location || "no place"
        : linkTo("line", dispatch.line, dispatch.location, "detail"),
    ],
  ];
  for (const [label, positions] of [
    ["after", dispatch.after],
    ["beside", dispatch.beside],
  ])
    if (positions?.length > 0)
      facts.push([
        label,
        commas(
          positions.map((position) =>
            linkTo("dispatch", dispatch.owner.dispatches[position].id, `#${position}`, "detail"),
          ),
        ),
      ]);
  if (dispatch.places?.length > 0)
    facts.push(["made of", commas(dispatch.places.map((place) => sourceLink(model, place)))]);
  for (const { from, because } of dispatch.apart ?? []) {
    const link = linkTo("dispatch", dispatch.owner.dispatches[from].id, `#${from}`, "detail");
    facts.push(["apart from", [link, `: ${because}`]]);
  }
  if (dispatch.measured) {
    const { measured } = dispatch;
    facts.push([
      "time",
      `${formatSeconds(dispatch.seconds)} at its fastest, ${formatSeconds(measured.mean_seconds)} in the mean, ` +
        `${formatNumber(measured.runs_per_call)} times a call, ${formatShare(dispatch.share)} of all`,
    ]);
    facts.push([
      "bandwidth",
      `${formatNumber(bandwidthOf(dispatch))} GB/s of the ${formatNumber(model.profile.ceilings.memory_gbps)} of the memory`,
    ]);
  }
  return html(
    "div",
    {},
    html("h3", {}, `Dispatch ${numberOf(model, dispatch)} @${dispatch.name}`),
    html(
      "dl",
      { class: "facts" },
      facts.map(([label, words]) => [html("dt", {}, label), html("dd", {}, words)]),
    ),
    html(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "bindings" },
      table(
        "Bindings",
        ["access", "type", { text: "bytes", isNumber: true }, "memory"],
        dispatch.bindings.map((binding) => ({
          cells: [
            binding.access,
            html("code", {}, binding.type),
            binding.bytes === undefined ? "at the call" : formatBytes(binding.bytes),
            html(
              "span",
              {},
              (binding.data ?? []).join(" or "),
              (binding.buffers ?? []).map((index) => [" ", linkTo("buffer", index, `buffer ${index}`, "detail")]),
            ),
          ],
        })),
      ),
    ),
    dispatch.strategy?.length > 0 && html("h4", {}, "How its code was made"),
    html(
      "ul",
      {},
      (dispatch.strategy ?? []).map((decision) => html("li", {}, `${wordsOf(decision)}: ${decision.because}`)),
    ),
  );
}
