"use strict";
// The first section: what the report comes to, in the words of `plimsoll explain`.

function makeSummary(model) {
  const rows = model.report.summary ?? [];
  const list = html("dl", { class: "summary" });
  for (const { label, lines } of rows)
    list.append(
      html("dt", {}, label),
      html(
        "dd",
        {},
        lines.length === 1
          ? lines[0]
          : html(
              "ul",
              {},
              lines.map((line) => html("li", {}, line)),
            ),
      ),
    );
  return list;
}

function makeFindings(model) {
  const { report } = model;
  const parts = [];
  if ((report.copies ?? []).length > 0)
    parts.push(
      table(
        "Copies",
        ["type", { text: "bytes", isNumber: true }, "function", "of", "instead", "source"],
        report.copies.map((copy) => ({
          cells: [
            copy.type,
            copy.bytes === undefined ? "at the call" : formatBytes(copy.bytes),
            `@${copy.function}`,
            copy.of,
            copy.instead ?? "",
            sourceLink(model, copy.location),
          ],
        })),
      ),
    );
  if ((report.externals ?? []).length > 0)
    parts.push(
      table(
        "Functions of the host application",
        ["name", "type", "source"],
        report.externals.map((each) => ({
          cells: [`@${each.name}${each.pure ? ", pure" : ""}`, each.type, sourceLink(model, each.location)],
        })),
      ),
    );
  if (report.stack)
    parts.push(
      table(
        `Stack, in bytes${report.stack.lowerings > 1 ? `; lowered again with ${report.stack.reserve} left to frames` : ""}`,
        ["function", ...["estimated", "proven", "with runtime", "budget"].map((text) => ({ text, isNumber: true }))],
        (report.stack.functions ?? []).map((each) => ({
          cells: [`@${each.name}`, each.estimated, each.proven, each.call, each.budget],
        })),
      ),
    );
  if (report.data) {
    const kinds = ["constants", "parameters", "prepared", "variables"];
    parts.push(
      table(
        "Data",
        ["kind", { text: "bytes", isNumber: true }],
        kinds.map((kind) => ({ cells: [kind, formatBytes(report.data[kind] ?? 0)] })),
      ),
    );
  }
  return parts.map((part) =>
    html("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": part.caption.textContent }, part),
  );
}

function sourceLink(model, location) {
  const line = model.lineOf(location);
  return line === null ? location || "–" : linkTo("line", line, location, "report");
}

/** What each policy would have cost, with bars that can be compared down a column. */
function makePolicies(model) {
  const policies = model.report.policies ?? [];
  const pools = [...new Set(policies.flatMap((policy) => Object.keys(policy.pool_bytes ?? {})))];
  const columns = [
    ["stack", (policy) => policy.stack_bytes],
    ["workspace", (policy) => policy.workspace_bytes],
    ["scratch of a thread", (policy) => policy.scratch_bytes],
    ...pools.map((pool) => [`pool ${pool}`, (policy) => policy.pool_bytes?.[pool] ?? 0]),
  ];
  const most = columns.map(([, bytes]) => Math.max(1, ...policies.map(bytes)));
  const rows = policies.map((policy, i) => ({
    cells: [
      policy.policy + (i === 0 ? " (this report)" : ""),
      ...columns.map(([name, bytes], column) =>
        bar(
          bytes(policy) / most[column],
          name === "workspace" && policy.planned_at_call
            ? `${formatBytes(bytes(policy))} and at the call`
            : formatBytes(bytes(policy)),
        ),
      ),
      policy.allocator_buffers,
    ],
  }));
  const caption =
    "Bytes at most of a call" + (policies.length > 1 ? "" : "; explain --policies compiles with the others too");
  return table(
    caption,
    ["policy", ...columns.map(([text]) => text), { text: "buffers from the allocator", isNumber: true }],
    rows,
  );
}
