"use strict";
// The graph of dispatches of one function: what flows from which to which. Layers that repeat are one group, which shows the
// first of them; long stretches are groups too, so that a graph of a thousand dispatches is laid out a few at a time.

const mostNodes = 90; // that are laid out at once

/** Groups of consecutive dispatches: {begin, length, count}, `count` times the same `length`. Repetitions that stand for fewer than `least`
 *  others are part of the stretches between. */
function groupsFrom(owner, least) {
  const stretchLength = Math.max(40, Math.ceil(owner.dispatches.length / 40));
  const groups = [];
  for (const { begin, length, count } of owner.repetitions ?? []) {
    if (count > 1 && length * (count - 1) >= least) {
      groups.push({ begin, length, count, isOpen: false });
      continue;
    }
    for (let position = begin; position < begin + length * count; ++position) {
      const last = groups.at(-1);
      if (last && last.count === 1 && last.length < stretchLength) ++last.length;
      else groups.push({ begin: position, length: 1, count: 1, isOpen: false });
    }
  }
  return groups;
}

/** As few as can be laid out; the first ones are open, as far as there is room. */
function groupsOf(owner) {
  let least = 3;
  let groups = groupsFrom(owner, least);
  for (; groups.length > mostNodes / 2 && least < owner.dispatches.length; least *= 2)
    groups = groupsFrom(owner, least);
  let room = mostNodes - groups.length;
  for (const group of groups) {
    if (group.length > room) continue;
    group.isOpen = true;
    room -= group.length;
  }
  return groups;
}

function makeGraph(model, owner) {
  const groups = groupsOf(owner);
  const groupAt = new Array(owner.dispatches.length);
  for (const group of groups) for (let i = 0; i < group.length * group.count; ++i) groupAt[group.begin + i] = group;
  const figure = html("div", { class: "graph" });
  const scroller = html("div", { class: "graph-scroll" });
  const nodes = new Map(); // key: element
  let scale = 1;

  /** The dispatch that stands for this one where its layer is shown once. */
  const shownOf = (position) => {
    const group = groupAt[position];
    return group.begin + ((position - group.begin) % group.length);
  };
  const keyOf = (position) =>
    groupAt[position].isOpen ? `dispatch ${shownOf(position)}` : `group ${groupAt[position].begin}`;
  const sizeOf = (text, lines) => ({ width: Math.max(120, 7.2 * text.length + 22), height: 14 + 15 * lines });

  function lay() {
    const graph = new dagre.graphlib.Graph({ compound: true });
    graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 26, marginx: 12, marginy: 12, ranker: "tight-tree" });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const group of groups) {
      const key = `group ${group.begin}`;
      if (!group.isOpen) {
        graph.setNode(key, { ...sizeOf(titleOf(group), 2), group });
        continue;
      }
      if (group.count > 1) graph.setNode(key, { group, isFrame: true });
      for (let position = group.begin; position < group.begin + group.length; ++position) {
        const dispatch = owner.dispatches[position];
        const text = `#${dispatch.position} ${dispatch.label}`;
        graph.setNode(`dispatch ${position}`, { ...sizeOf(text, 2), dispatch, text, group });
        if (group.count > 1) graph.setParent(`dispatch ${position}`, key);
      }
    }
    const drawn = new Map();
    for (const edge of owner.flow) {
      const from = keyOf(edge.from),
        to = keyOf(edge.to);
      // From a layer into the next one: it would go backwards where the layer is shown once.
      if (from === to || (groupAt[edge.from] === groupAt[edge.to] && shownOf(edge.from) >= shownOf(edge.to))) continue;
      const known = drawn.get(`${from}>${to}`);
      if (known) known.bytes = Math.max(known.bytes, edge.bytes);
      else drawn.set(`${from}>${to}`, { from, to, bytes: edge.bytes });
    }
    for (const edge of drawn.values()) graph.setEdge(edge.from, edge.to, edge);
    dagre.layout(graph);
    return graph;
  }

  function titleOf(group) {
    const last = group.begin + group.length * group.count - 1;
    const range = last === group.begin ? `#${group.begin}` : `#${group.begin} to #${last}`;
    return group.count > 1
      ? `${range}: ${group.count} times ${counted(group.length, "dispatch", "dispatches")}`
      : `${range}: ${counted(group.length, "dispatch", "dispatches")}`;
  }

  function sumOf(group) {
    const inside = owner.dispatches.slice(group.begin, group.begin + group.length * group.count);
    const share = inside.reduce((sum, dispatch) => sum + (dispatch.share ?? 0), 0);
    const seconds = inside.reduce((sum, dispatch) => sum + (dispatch.secondsOfCall ?? 0), 0);
    const bytes = inside.reduce((sum, dispatch) => sum + dispatch.bytes, 0);
    return inside.some((dispatch) => dispatch.measured)
      ? `${formatSeconds(seconds)}, ${formatShare(share)}`
      : formatBytes(bytes);
  }

  function toggle(group) {
    group.isOpen = !group.isOpen;
    // The oldest ones close where there would be too many.
    let open = groups.reduce((sum, each) => sum + (each.isOpen ? each.length : 1), 0);
    for (const each of groups)
      if (open > mostNodes && each.isOpen && each !== group) {
        each.isOpen = false;
        open -= each.length - 1;
      }
    draw();
    nodes.get(group.isOpen ? `dispatch ${group.begin}` : `group ${group.begin}`)?.focus();
  }

  function button(key, node, label, className, lines, press, heat = 0) {
    const element = svg(
      "g",
      {
        class: className,
        role: "button",
        tabindex: -1,
        "aria-label": label,
        transform: `translate(${node.x - node.width / 2},${node.y - node.height / 2})`,
        onclick: press,
        onkeydown: (event) => {
          if (event.key === "Enter" || event.key === " ") press();
          else if (!move(key, event.key)) return;
          event.preventDefault();
        },
      },
      svg("rect", { width: node.width, height: node.height, rx: 5 }),
      lines.map((line, i) => svg("text", { x: node.width / 2, y: 17 + 15 * i, class: i > 0 ? "minor" : null }, line)),
      svg("title", {}, label),
    );
    element.style.setProperty("--heat", Math.min(1, heat));
    nodes.set(key, element);
    return element;
  }

  /** To the node before or behind. */
  function move(key, pressed) {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[pressed];
    const keys = [...nodes.keys()];
    const next = { Home: 0, End: keys.length - 1 }[pressed] ?? (step && keys.indexOf(key) + step);
    if (next === undefined || !keys[next]) return false;
    for (const each of nodes.values()) each.setAttribute("tabindex", -1);
    nodes.get(keys[next]).setAttribute("tabindex", 0);
    nodes.get(keys[next]).focus();
    return true;
  }

  function draw() {
    const graph = lay();
    let { width } = graph.graph();
    const height = graph.graph().height + 8;
    nodes.clear();
    const frames = [],
      buttons = [],
      edges = [];
    for (const key of graph.nodes().sort((a, b) => Number(a.split(" ")[1]) - Number(b.split(" ")[1]))) {
      const node = graph.node(key);
      if (node.isFrame) {
        const title = `${titleOf(node.group)}; ${sumOf(node.group)}`;
        frames.push(
          svg(
            "g",
            { class: "frame" },
            svg("rect", {
              x: node.x - node.width / 2,
              y: node.y - node.height / 2,
              width: node.width,
              height: node.height,
              rx: 8,
            }),
          ),
        );
        const closer = { ...sizeOf(`− ${title}`, 1), height: 20, y: node.y - node.height / 2 };
        closer.x = node.x - node.width / 2 + closer.width / 2; // which may be wider than the frame
        width = Math.max(width, closer.x + closer.width / 2 + 4);
        buttons.push(button(key, closer, `close ${title}`, "node group", [`− ${title}`], () => toggle(node.group)));
      } else if (node.dispatch) {
        const { dispatch } = node;
        const detail = dispatch.measured
          ? `${formatSeconds(dispatch.secondsOfCall)}, ${formatShare(dispatch.share)}`
          : (dispatch.isOpen ? "at least " : "") + formatBytes(dispatch.bytes);
        const times = node.group.count > 1 ? `, the first of ${node.group.count}` : "";
        buttons.push(
          button(
            key,
            node,
            `dispatch ${node.text} on ${dispatch.device}, ${detail}${times}`,
            "node dispatch",
            [node.text, detail],
            () => selection.set("dispatch", dispatch.id, "graph"),
            dispatch.heat,
          ),
        );
      } else {
        const title = titleOf(node.group);
        buttons.push(
          button(
            key,
            node,
            `open ${title}, ${sumOf(node.group)}`,
            "node group",
            [`+ ${title}`, sumOf(node.group)],
            () => toggle(node.group),
          ),
        );
      }
    }
    for (const edge of graph.edges()) {
      const { points, bytes } = graph.edge(edge);
      edges.push(
        svg(
          "path",
          {
            class: "edge",
            d: points.map((point, i) => `${i === 0 ? "M" : "L"}${point.x},${point.y}`).join(" "),
            "marker-end": `url(#arrow-${owner.position})`,
          },
          svg("title", {}, bytes > 0 ? formatBytes(bytes) : "size known at the call"),
        ),
      );
    }
    nodes.values().next().value?.setAttribute("tabindex", 0);
    scroller.replaceChildren(
      svg(
        "svg",
        {
          width: width * scale,
          height: height * scale,
          viewBox: `0 -8 ${width} ${height}`,
          role: "group",
          "aria-label": `graph of ${counted(owner.dispatches.length, "dispatch", "dispatches")} of @${owner.name}`,
        },
        svg(
          "defs",
          {},
          svg(
            "marker",
            {
              id: `arrow-${owner.position}`,
              class: "arrow",
              viewBox: "0 0 8 8",
              refX: 8,
              refY: 4,
              markerWidth: 7,
              markerHeight: 7,
              orient: "auto",
            },
            svg("path", { d: "M0,0 L8,4 L0,8 z" }),
          ),
        ),
        frames,
        edges,
        buttons,
      ),
    );
    mark();
  }

  function mark(scrolls = false) {
    const { kind, index } = selection.current ?? {};
    const touched =
      kind === "buffer" ? (model.buffers[index]?.users ?? []) : kind === "dispatch" ? [model.dispatches[index]] : [];
    const keys = new Set(touched.filter((each) => each?.owner === owner).map((each) => keyOf(each.position)));
    for (const [key, node] of nodes) node.classList.toggle("selected", keys.has(key));
    const first = nodes.get([...keys][0]);
    if (first && scrolls) {
      const box = first.getBoundingClientRect(),
        frame = scroller.getBoundingClientRect();
      scroller.scrollBy(box.left - frame.left - frame.width / 2, box.top - frame.top - frame.height / 3);
    }
  }

  function zoom(factor) {
    scale = Math.min(3, Math.max(0.25, scale * factor));
    draw();
  }
  selection.listen((current, from) => {
    const dispatch = current.kind === "dispatch" && model.dispatches[current.index];
    if (dispatch && dispatch.owner === owner && !groupAt[dispatch.position].isOpen && from !== "graph") {
      const group = groupAt[dispatch.position];
      if (group.length <= mostNodes / 2) {
        const focused = document.activeElement;
        toggle(group);
        focused?.focus({ preventScroll: true });
      }
    }
    mark(from !== "graph");
  });
  figure.append(
    html(
      "div",
      { class: "controls" },
      html("button", { onclick: () => zoom(1.25), "aria-label": "enlarge the graph" }, "+"),
      html("button", { onclick: () => zoom(0.8), "aria-label": "shrink the graph" }, "−"),
      html(
        "span",
        { class: "hint" },
        model.profile ? "darker: more of the time. " : "darker: more bytes. ",
        "Arrow keys move, Enter selects.",
      ),
    ),
    scroller,
  );
  draw();
  return figure;
}
