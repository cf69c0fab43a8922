"use strict";
// A report as the page shows it: flat lists, with links from each thing to those it belongs to.

/** "file:line:column" as {file, line, column}; null for none. */
function placeOf(location) {
  const match = /^(.*):(\d+):(\d+)$/.exec(location ?? "");
  return match && { file: match[1], line: Number(match[2]), column: Number(match[3]) };
}

/** The memory that a binding may be, each with a key that is the same wherever it is used. */
function memoriesOf(functionName, binding) {
  return [
    ...(binding.buffers ?? []).map((index) => ({ key: `buffer ${index}`, buffer: index })),
    ...(binding.data ?? []).map((name) => ({
      key: name.startsWith("argument") ? `${functionName} ${name}` : name,
      name,
    })),
  ];
}

/**
 * From the dispatches that wrote some memory to those that read it, within one function. Several have written it, each a part, if nothing
 * read it in between.
 */
function flowOf(functionName, dispatches) {
  const edges = new Map();
  const writers = new Map();
  const isRead = new Set(); // since it was written to
  dispatches.forEach((dispatch, reader) => {
    for (const binding of dispatch.bindings) {
      if (binding.access === "writeonly") continue;
      for (const { key } of memoriesOf(functionName, binding)) {
        isRead.add(key);
        for (const writer of writers.get(key) ?? []) {
          const id = `${writer} ${reader}`;
          const edge = edges.get(id) ?? { from: writer, to: reader, types: [], bytes: 0 };
          edge.types.push(binding.type);
          edge.bytes += binding.bytes ?? 0;
          edges.set(id, edge);
        }
      }
    }
    for (const binding of dispatch.bindings)
      if (binding.access !== "readonly")
        for (const { key } of memoriesOf(functionName, binding))
          writers.set(key, isRead.delete(key) ? [reader] : [...(writers.get(key) ?? []), reader]);
  });
  return [...edges.values()];
}

function modelOf(report) {
  const source = report.source ?? null;
  const lineOf = (location) => {
    const place = placeOf(location);
    return place && source && place.file === source.name && place.line <= source.lines.length ? place.line : null;
  };
  const buffers = (report.allocations ?? []).map((allocation, index) => ({
    ...allocation,
    index,
    line: lineOf(allocation.location),
    users: [],
  }));
  const functions = (report.functions ?? []).map((each, position) => ({ ...each, position, dispatches: [] }));
  const dispatches = [];
  functions.forEach((owner) => {
    (report.functions[owner.position].dispatches ?? []).forEach((each, position) => {
      const dispatch = {
        ...each,
        owner,
        position,
        id: dispatches.length,
        line: lineOf(each.location),
        label: each.name.startsWith(`${owner.name}_`) ? each.name.slice(owner.name.length + 1) : each.name,
        bytes: each.bindings.reduce((sum, binding) => sum + (binding.bytes ?? 0), 0),
        isOpen: each.bindings.some((binding) => binding.bytes === undefined),
        buffers: [],
      };
      if (each.measured?.bytes) dispatch.bytes = each.measured.bytes;
      // The fastest run, as ceilings are: others have what else the machine did in them.
      dispatch.seconds = each.measured ? Math.max(each.measured.min_seconds, 1e-9) : null;
      dispatch.secondsOfCall = each.measured ? dispatch.seconds * each.measured.runs_per_call : null;
      for (const binding of each.bindings)
        for (const index of binding.buffers ?? []) {
          dispatch.buffers.push(index);
          if (buffers[index]?.users.at(-1) !== dispatch) buffers[index]?.users.push(dispatch);
        }
      owner.dispatches.push(dispatch);
      dispatches.push(dispatch);
    });
    owner.flow = flowOf(owner.name, owner.dispatches);
  });
  const atLine = new Map(); // line: what was made of it
  const add = (line, kind, index) => {
    if (line === null) return;
    if (!atLine.has(line)) atLine.set(line, []);
    atLine.get(line).push({ kind, index });
  };
  dispatches.forEach((dispatch) => add(dispatch.line, "dispatch", dispatch.id));
  buffers.forEach((buffer) => add(buffer.line, "buffer", buffer.index));
  const seconds = dispatches.reduce((sum, dispatch) => sum + (dispatch.secondsOfCall ?? 0), 0);
  const mostBytes = dispatches.reduce((most, dispatch) => Math.max(most, dispatch.bytes), 1);
  for (const dispatch of dispatches) {
    dispatch.share = dispatch.measured && seconds > 0 ? dispatch.secondsOfCall / seconds : null;
  }
  const mostShare = dispatches.reduce((most, dispatch) => Math.max(most, dispatch.share ?? 0), 1e-9);
  for (const dispatch of dispatches)
    dispatch.heat = 0.8 * (dispatch.share === null ? dispatch.bytes / mostBytes : dispatch.share / mostShare);
  return { report, source, functions, dispatches, buffers, atLine, lineOf, seconds, profile: report.profile ?? null };
}

/** "#3", with the function where there are several with dispatches. */
function numberOf(model, dispatch) {
  const isAlone = model.functions.filter((each) => each.dispatches.length > 0).length === 1;
  return isAlone ? `#${dispatch.position}` : `@${dispatch.owner.name} #${dispatch.position}`;
}

// What is selected: {kind: "dispatch" | "buffer" | "line", index}. It is in the address of the page too, so that places can be kept.

const selection = {
  current: null,
  listeners: [],
  listen(listener) {
    this.listeners.push(listener);
  },
  /** `from` is what asked for it, and does not scroll to itself. */
  set(kind, index, from = "") {
    this.current = { kind, index };
    if (from !== "address") history.replaceState(null, "", `#${kind}-${index}`);
    for (const listener of this.listeners) listener(this.current, from);
  },
  readAddress() {
    const match = /^#(dispatch|buffer|line)-(\d+)$/.exec(location.hash);
    if (match) this.set(match[1], Number(match[2]), "address");
  },
};

function linkTo(kind, index, text, from) {
  return html(
    "a",
    {
      href: `#${kind}-${index}`,
      class: `link-${kind}`,
      onclick: (event) => {
        event.preventDefault();
        selection.set(kind, index, from);
      },
    },
    text,
  );
}
