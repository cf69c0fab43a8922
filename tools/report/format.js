"use strict";
// Elements and text. Whatever comes from a module becomes text nodes and attributes, never markup.

const svgNamespace = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An HTML element; "onclick" and the like are listeners, false and null are left out. */
function html(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fill(document.createElementNS(svgNamespace, name), attributes, children);
}

/** Four significant digits, all digits of a large whole part. */
function formatNumber(value) {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 1e4 ? Math.round(value).toString() : String(Number(value.toPrecision(4)));
}

function formatBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; Math.abs(bytes) >= 1024 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return `${formatNumber(bytes)} ${units[unit]}`;
}

function formatSeconds(seconds) {
  if (seconds < 1e-3) return `${formatNumber(seconds * 1e6)} µs`;
  return seconds < 1 ? `${formatNumber(seconds * 1e3)} ms` : `${formatNumber(seconds)} s`;
}

/** "12 %", "0.4 %". */
function formatShare(share) {
  const percent = 100 * share;
  return `${percent >= 10 ? Math.round(percent) : Number(percent.toPrecision(2))} %`;
}

function counted(count, one, many) {
  return `${count} ${count === 1 ? one : many}`;
}

/** A table whose headings are `headings`: texts, or {text, isNumber, title}; cells are texts, nodes or {value, node} to sort by. */
function table(caption, headings, rows, attributes) {
  const columns = headings.map((each) => (typeof each === "string" ? { text: each } : each));
  return html(
    "table",
    attributes,
    html("caption", {}, caption),
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        columns.map((column) =>
          html("th", { scope: "col", class: column.isNumber ? "number" : null, title: column.title }, column.text),
        ),
      ),
    ),
    html(
      "tbody",
      {},
      rows.map((row) =>
        html(
          "tr",
          row.attributes,
          row.cells.map((cell, i) =>
            html(
              i === 0 ? "th" : "td",
              { scope: i === 0 ? "row" : null, class: columns[i].isNumber ? "number" : null },
              cell,
            ),
          ),
        ),
      ),
    ),
  );
}

/** A bar of `share` of the width, behind the text that says the same. */
function bar(share, text) {
  const cell = html("span", { class: "bar" }, text);
  cell.style.setProperty("--share", `${Math.min(100, Math.max(0, 100 * share))}%`);
  return cell;
}

/** The step of an axis with about `count` ticks over `range`: 1, 2 or 5 times a power of ten, or a power of two. */
function tickStep(range, count, isBinary = false) {
  const rough = Math.max(range / count, Number.MIN_VALUE);
  if (isBinary) return 2 ** Math.ceil(Math.log2(rough));
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
}
