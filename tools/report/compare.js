"use strict";
// This report beside another one: a page, or what `--json` printed.

/** The report in a page or a JSON file; throws for what is neither. */
function reportIn(text) {
  if (!text.trimStart().startsWith("{")) {
    const page = new DOMParser().parseFromString(text, "text/html"); // runs nothing
    text = page.getElementById("report")?.textContent ?? "";
  }
  const report = JSON.parse(text);
  if (!Array.isArray(report.functions)) throw new Error("it has no functions");
  return report;
}

function signed(difference, format) {
  return difference === 0 ? "same" : (difference > 0 ? "+" : "−") + format(Math.abs(difference));
}

/** A row "what, here, there, difference"; a value that is not known is null. */
function comparedRow(what, here, there, format, lessIsBetter = true) {
  const show = (value) => (value === null || value === undefined ? "–" : format(value));
  const isKnown = [here, there].every((value) => value !== null && value !== undefined);
  const difference = isKnown ? there - here : 0;
  const ratio = isKnown && here > 0 && difference !== 0 ? ` (${formatNumber(there / here)} times)` : "";
  return {
    cells: [
      what,
      show(here),
      show(there),
      html(
        "span",
        { class: difference === 0 ? null : difference < 0 === lessIsBetter ? "better" : "worse" },
        isKnown ? signed(difference, format) + ratio : "–",
      ),
    ],
  };
}

const comparedColumns = (what) => [
  what,
  ...["this report", "the other", "difference"].map((text) => ({ text, isNumber: true })),
];

/** Sums of dispatches by code: those that share one are one row. */
function sumsByName(model) {
  const sums = new Map();
  for (const dispatch of model.dispatches) {
    const sum = sums.get(dispatch.name) ?? {
      count: 0,
      bytes: 0,
      seconds: model.profile ? 0 : null,
      device: dispatch.device,
    };
    sum.count += 1;
    sum.bytes += dispatch.bytes;
    if (dispatch.measured && sum.seconds !== null) sum.seconds += dispatch.secondsOfCall;
    sums.set(dispatch.name, sum);
  }
  return sums;
}

function makeComparison(model, other) {
  const named = (each) => `${each.report.module}, ${each.report.target ?? "unknown target"}`;
  const policyOf = (each) => each.report.policies?.[0] ?? {};
  const total = (list, value) => list.reduce((sum, each) => sum + value(each), 0);
  const whole = [
    comparedRow("dispatches", model.dispatches.length, other.dispatches.length, String),
    comparedRow(
      "bytes of dispatches",
      total(model.dispatches, (each) => each.bytes),
      total(other.dispatches, (each) => each.bytes),
      formatBytes,
    ),
    comparedRow("workspace", policyOf(model).workspace_bytes, policyOf(other).workspace_bytes, formatBytes),
    comparedRow("stack", policyOf(model).stack_bytes, policyOf(other).stack_bytes, formatBytes),
    comparedRow(
      "buffers from the allocator",
      policyOf(model).allocator_buffers,
      policyOf(other).allocator_buffers,
      String,
    ),
    comparedRow("copies", (model.report.copies ?? []).length, (other.report.copies ?? []).length, String),
    comparedRow(
      "time of a call, median",
      model.profile?.calls.median_seconds,
      other.profile?.calls.median_seconds,
      formatSeconds,
    ),
  ];
  const here = sumsByName(model),
    there = sumsByName(other);
  const isTimed = model.profile && other.profile;
  const weight = (name) =>
    Math.abs(
      (there.get(name)?.[isTimed ? "seconds" : "bytes"] ?? 0) - (here.get(name)?.[isTimed ? "seconds" : "bytes"] ?? 0),
    );
  const names = [...new Set([...here.keys(), ...there.keys()])].sort(
    (a, b) => weight(b) - weight(a) || (a < b ? -1 : 1),
  );
  const rows = names.map((name) =>
    isTimed
      ? comparedRow(countedName(name), here.get(name)?.seconds, there.get(name)?.seconds, formatSeconds)
      : comparedRow(countedName(name), here.get(name)?.bytes, there.get(name)?.bytes, formatBytes),
  );
  function countedName(name) {
    const counts = [here.get(name)?.count ?? 0, there.get(name)?.count ?? 0];
    return `${name}${counts[0] === counts[1] ? (counts[0] > 1 ? `, ${counts[0]} times` : "") : `, ${counts[0]} and ${counts[1]} times`}`;
  }
  const memories = new Map(
    [...(model.report.memories ?? []), ...(other.report.memories ?? [])].map((each) => [each.name, null]),
  );
  const peakOf = (each, name) => each.report.memories?.find((memory) => memory.name === name)?.peak_bytes;
  return html(
    "div",
    {},
    html(
      "dl",
      { class: "facts" },
      html("dt", {}, "this report"),
      html("dd", {}, named(model)),
      html("dt", {}, "the other"),
      html("dd", {}, named(other)),
    ),
    table("In all", comparedColumns(""), whole),
    memories.size > 0 &&
      table(
        "Memories",
        comparedColumns("memory"),
        [...memories.keys()].map((name) => comparedRow(name, peakOf(model, name), peakOf(other, name), formatBytes)),
      ),
    html(
      "div",
      { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "dispatches compared" },
      table(
        isTimed ? "Time of dispatches in a call, by their code" : "Bytes of dispatches, by their code",
        comparedColumns("dispatch"),
        rows,
      ),
    ),
  );
}

/** A button for a file, and what is made of it; `read(text)` returns nodes or throws. */
function fileInput(id, label, accept, read) {
  const result = html("div");
  const said = html("span", { role: "status", class: "hint" });
  const input = html("input", {
    type: "file",
    id,
    accept,
    onchange: async () => {
      const [file] = input.files;
      if (!file) return;
      try {
        result.replaceChildren(read(await file.text()));
        said.textContent = file.name;
      } catch (error) {
        result.replaceChildren();
        said.textContent = `${file.name} cannot be shown: ${error.message}`;
      }
    },
  });
  return html("div", {}, html("div", { class: "controls" }, html("label", { for: id }, label), input, said), result);
}
