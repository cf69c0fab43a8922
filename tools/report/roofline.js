"use strict";
// Measured dispatches against what the machine can do: operations a second over operations for each byte.

function makeRoofline(model) {
  const { ceilings, threads, calls } = model.profile;
  const points = model.dispatches.filter(
    (dispatch) => dispatch.measured && dispatch.operations > 0 && dispatch.bytes > 0,
  );
  const intro = html(
    "p",
    {},
    `${threads === 1 ? "One thread" : `${threads} threads`} of ${model.report.machine || "this machine"}; ` +
      `${counted(calls.count, "call", "calls")} after one that warmed up, ${formatSeconds(calls.median_seconds)} in the median, ` +
      `${formatSeconds(calls.min_seconds)} at least. Ceilings, measured in the same process: memory ${formatNumber(ceilings.memory_gbps)} GB/s ` +
      `(the sum of two arrays of ${formatBytes(ceilings.memory_bytes)} each), products ${formatNumber(ceilings.product_gops)} Gop/s ` +
      `(of two ${ceilings.product_size} × ${ceilings.product_size} matrices of f32).`,
  );
  if (points.length === 0)
    return html(
      "div",
      {},
      intro,
      html(
        "p",
        {},
        "No dispatch is known to compute, so that there is no roofline; the table has the bandwidths.",
      ),
    );
  const width = 900,
    height = 360,
    left = 64,
    bottom = 40,
    top = 10,
    right = 12;
  const intensities = points.map((dispatch) => dispatch.operations / dispatch.bytes);
  const rates = points.map(rateOf);
  const ridge = ceilings.product_gops / ceilings.memory_gbps;
  const low = (values) => Math.floor(Math.log10(Math.min(...values))),
    high = (values) => Math.ceil(Math.log10(Math.max(...values)) + 0.01);
  const x0 = low([...intensities, ridge]),
    x1 = high([...intensities, ridge]);
  const y0 = low([...rates, 10 ** x0 * ceilings.memory_gbps]),
    y1 = high([...rates, ceilings.product_gops]);
  const toX = (value) => left + ((Math.log10(value) - x0) / (x1 - x0)) * (width - left - right);
  const toY = (value) => height - bottom - ((Math.log10(value) - y0) / (y1 - y0)) * (height - bottom - top);
  const axis = [];
  for (let power = x0; power <= x1; ++power) {
    axis.push(svg("line", { x1: toX(10 ** power), x2: toX(10 ** power), y1: top, y2: height - bottom }));
    axis.push(
      svg("text", { x: toX(10 ** power), y: height - bottom + 15, "text-anchor": "middle" }, formatNumber(10 ** power)),
    );
  }
  for (let power = y0; power <= y1; ++power) {
    axis.push(svg("line", { x1: left, x2: width - right, y1: toY(10 ** power), y2: toY(10 ** power) }));
    axis.push(svg("text", { x: left - 5, y: toY(10 ** power) + 4, "text-anchor": "end" }, formatNumber(10 ** power)));
  }
  axis.push(
    svg("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, "operations for each byte"),
    svg("text", { x: 12, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${height / 2})` }, "Gop/s"),
  );
  const start = 10 ** x0,
    end = 10 ** x1;
  const roof = svg("path", {
    class: "roof",
    d: `M${toX(start)},${toY(start * ceilings.memory_gbps)} L${toX(ridge)},${toY(ceilings.product_gops)} L${toX(end)},${toY(ceilings.product_gops)}`,
  });
  const dots = new Map();
  const marks = [...points]
    .sort((a, b) => b.share - a.share)
    .map((dispatch) => {
      const label =
        `${numberOf(model, dispatch)} ${dispatch.label}: ${formatNumber(rateOf(dispatch))} Gop/s, ` +
        `${formatNumber(dispatch.operations / dispatch.bytes)} operations for each byte, ${formatSeconds(dispatch.seconds)}, ${formatShare(dispatch.share)}`;
      const dot = svg(
        "circle",
        {
          class: "point",
          cx: toX(dispatch.operations / dispatch.bytes),
          cy: toY(rateOf(dispatch)),
          r: 3.5 + 12 * Math.sqrt(dispatch.share),
          onclick: () => selection.set("dispatch", dispatch.id, "roofline"),
        },
        svg("title", {}, label),
      );
      dots.set(dispatch.id, dot);
      return dot;
    });
  selection.listen(({ kind, index }) => {
    for (const [id, dot] of dots) dot.classList.toggle("selected", kind === "dispatch" && id === index);
  });
  const unknown = model.dispatches.filter((dispatch) => dispatch.measured && dispatch.operations === undefined).length;
  return html(
    "div",
    {},
    intro,
    html(
      "div",
      { class: "scroll" },
      svg(
        "svg",
        {
          class: "roofline",
          viewBox: `0 0 ${width} ${height}`,
          role: "img",
          "aria-label": `roofline of ${counted(points.length, "dispatch", "dispatches")}; the table of dispatches has the same numbers`,
        },
        svg("g", { class: "axis" }, axis),
        roof,
        svg("g", {}, marks),
      ),
    ),
    html(
      "p",
      { class: "hint" },
      "The larger a point, the more of the time. On the slope the memory is the limit, on the flat part arithmetic is; " +
        "above the slope data stays in the caches. " +
        (unknown > 0 ? `Of ${counted(unknown, "dispatch", "dispatches")} the operations are not known.` : ""),
    ),
  );
}
