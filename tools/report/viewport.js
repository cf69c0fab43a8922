"use strict";
// The part of a plane that a figure shows: zoomed and moved with pointer, wheel, buttons and keys, in the same way everywhere.

class Viewport {
  /** `limits` are {x0, x1, y0, y1}; `isFlat` ones have the whole height always. */
  constructor(limits, { isFlat = false, leastWidth = 1e-9 } = {}) {
    Object.assign(this, { limits, isFlat, leastWidth, ...limits });
  }

  reset() {
    Object.assign(this, this.limits);
  }

  zoom(factor, x = (this.x0 + this.x1) / 2, y = (this.y0 + this.y1) / 2) {
    if ((this.x1 - this.x0) * factor < this.leastWidth) return;
    this.x0 = x - (x - this.x0) * factor;
    this.x1 = x + (this.x1 - x) * factor;
    if (!this.isFlat) {
      this.y0 = y - (y - this.y0) * factor;
      this.y1 = y + (this.y1 - y) * factor;
    }
    this.keepInside();
  }

  /** By parts of what is shown. */
  move(right, up) {
    const dx = right * (this.x1 - this.x0),
      dy = this.isFlat ? 0 : up * (this.y1 - this.y0);
    this.x0 += dx;
    this.x1 += dx;
    this.y0 += dy;
    this.y1 += dy;
    this.keepInside();
  }

  show(x0, x1) {
    this.x0 = x0;
    this.x1 = Math.max(x1, x0 + this.leastWidth);
    this.keepInside();
  }

  keepInside() {
    for (const [from, to] of [
      ["x0", "x1"],
      ["y0", "y1"],
    ]) {
      const length = Math.min(this[to] - this[from], this.limits[to] - this.limits[from]);
      this[from] = Math.min(Math.max(this[from], this.limits[from]), this.limits[to] - length);
      this[to] = this[from] + length;
    }
  }
}

/** Lets `surface` be zoomed and moved; `planeAt(event)` is the point of the plane under a pointer. Returns the buttons. */
function controlViewport(viewport, surface, draw, planeAt, name) {
  const act = (change) => {
    change();
    draw();
  };
  surface.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      const { x, y } = planeAt(event);
      act(() => viewport.zoom(event.deltaY < 0 ? 0.8 : 1.25, x, y));
    },
    { passive: false },
  );
  let grip = null;
  surface.addEventListener("pointerdown", (event) => {
    grip = event.button === 0 ? { x: event.clientX, y: event.clientY } : null;
  });
  window.addEventListener("pointermove", (event) => {
    if (!grip) return;
    const { width, height } = surface.getBoundingClientRect();
    act(() => viewport.move((grip.x - event.clientX) / width, (event.clientY - grip.y) / height));
    grip = { x: event.clientX, y: event.clientY };
  });
  window.addEventListener("pointerup", () => (grip = null));
  surface.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const change =
      {
        "+": () => viewport.zoom(0.8),
        "=": () => viewport.zoom(0.8),
        "-": () => viewport.zoom(1.25),
        0: () => viewport.reset(),
      }[event.key] ??
      (event.defaultPrevented
        ? null
        : {
            ArrowLeft: () => viewport.move(-0.2, 0),
            ArrowRight: () => viewport.move(0.2, 0),
            ArrowUp: () => viewport.move(0, 0.2),
            ArrowDown: () => viewport.move(0, -0.2),
          }[event.key]);
    if (!change) return;
    event.preventDefault();
    act(change);
  });
  const button = (text, label, change) =>
    html("button", { "aria-label": `${label} ${name}`, onclick: () => act(change) }, text);
  return [
    button("+", "zoom into", () => viewport.zoom(0.67)),
    button("−", "zoom out of", () => viewport.zoom(1.5)),
    button("←", "move left in", () => viewport.move(-0.3, 0)),
    button("→", "move right in", () => viewport.move(0.3, 0)),
    button("all", "show all of", () => viewport.reset()),
    html("span", { class: "hint" }, "Ctrl and wheel zoom, dragging moves; keys + − 0 and arrows."),
  ];
}
