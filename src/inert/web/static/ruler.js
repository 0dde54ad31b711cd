// Bytes of a file as a strip of coloured runs, whole and enlarged. Knows: drawing, zooming, the keyboard. Refuses to know: what runs are.

import { count, h, size, visible } from "./dom.js";

const TALL = 34; // pixels of a strip
const LEAST = 64; // bytes that fill the enlarged strip at the closest

// runs: [{offset, size, tone, name}] in the order of offsets; marks: offsets of damage. onPick(run) when one is chosen.
export function ruler({ runs, total, marks, onPick, label }) {
  const state = { at: 0, from: 0, to: Math.max(1, total) };
  const whole = strip("The whole file", (place) => aim(place));
  const near = strip(label, (place) => choose(find(place)));
  const said = h("p", { class: "quiet mono", role: "status" });
  near.setAttribute("role", "slider");
  near.setAttribute("tabindex", "0");
  near.setAttribute("aria-valuemin", "0");
  near.setAttribute("aria-valuemax", String(total));
  near.addEventListener("keydown", keys);
  const tools = h(
    "div",
    { class: "tools" },
    h("button", { type: "button", onclick: () => zoom(0.25), "aria-label": "Enlarge" }, "+"),
    h("button", { type: "button", onclick: () => zoom(4), "aria-label": "Reduce" }, "−"),
    h("button", { type: "button", onclick: () => zoom(Infinity) }, "Whole"),
    said,
  );
  const element = h("div", { class: "ruler" }, whole, near, tools);
  new ResizeObserver(draw).observe(element);

  function strip(name, pick) {
    const made = h("canvas", { class: "strip", "aria-label": name, role: "img" });
    made.addEventListener("click", (event) => {
      const box = made.getBoundingClientRect();
      const part = Math.min(0.999999, Math.max(0, (event.clientX - box.left) / box.width));
      pick(made === whole ? part * total : state.from + part * (state.to - state.from));
    });
    return made;
  }

  // The last run that begins at or before a place.
  function find(place) {
    let [low, high] = [0, runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (runs[middle].offset <= place) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  function choose(at, quietly) {
    if (!runs[at]) return;
    state.at = at;
    reveal(runs[at]);
    draw();
    if (!quietly) onPick(runs[at]);
  }

  function reveal(run) {
    const span = state.to - state.from;
    if (run.offset < state.from || run.offset >= state.to) frame(run.offset - span / 2, span);
  }

  function frame(from, span) {
    const wide = Math.min(total, Math.max(LEAST, span));
    state.from = Math.min(Math.max(0, from), Math.max(0, total - wide));
    state.to = state.from + Math.max(1, wide);
  }

  function zoom(by) {
    const run = runs[state.at];
    const middle = run && run.offset >= state.from && run.offset < state.to ? run.offset : (state.from + state.to) / 2;
    const span = (state.to - state.from) * by;
    frame(middle - span / 2, span);
    draw();
  }

  function aim(place) {
    const span = state.to - state.from < total ? state.to - state.from : total / 16;
    frame(place - span / 2, span);
    choose(find(place));
  }

  function keys(event) {
    const to = { ArrowRight: state.at + 1, ArrowUp: state.at + 1, ArrowLeft: state.at - 1, ArrowDown: state.at - 1, Home: 0, End: runs.length - 1 }[event.key];
    if (event.key === "+") zoom(0.25);
    else if (event.key === "-") zoom(4);
    else if (to === undefined || !runs.length) return;
    else choose(Math.max(0, Math.min(runs.length - 1, to)));
    event.preventDefault();
  }

  function draw() {
    paint(whole, 0, Math.max(1, total), true);
    paint(near, state.from, state.to, false);
    const run = runs[state.at];
    said.textContent = `bytes ${count(Math.floor(state.from))} to ${count(Math.ceil(state.to))}`;
    near.setAttribute("aria-valuenow", String(run ? run.offset : 0));
    near.setAttribute("aria-valuetext", run ? `${visible(run.name, 80)}, ${size(run.size)} at ${count(run.offset)}` : "nothing");
  }

  // Each pixel has the tone of the run that fills most of it; where many small ones lie in it, of the first.
  function paint(canvas, from, to, overview) {
    const dense = Math.min(3, devicePixelRatio || 1);
    const wide = Math.max(1, Math.round(canvas.clientWidth * dense));
    canvas.width = wide;
    canvas.height = TALL * dense;
    const pen = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    const scale = wide / (to - from);
    pen.fillStyle = color("mark");
    pen.fillRect(0, 0, wide, canvas.height);
    let last = -1;
    for (let at = find(from); at < runs.length && runs[at].offset < to; at += 1) {
      const run = runs[at];
      const left = Math.max(0, (run.offset - from) * scale);
      const right = Math.min(wide, (run.offset + run.size - from) * scale);
      if (Math.floor(right) <= last) continue; // its pixel is drawn
      pen.fillStyle = color(run.tone);
      pen.fillRect(left, 0, Math.max(right - left, 1), canvas.height);
      if (right - left > 3 * dense) {
        pen.fillStyle = color("card");
        pen.fillRect(right - dense / 2, 0, dense / 2, canvas.height);
      }
      last = Math.floor(right);
    }
    pen.fillStyle = color("bad");
    for (const mark of marks) if (mark >= from && mark < to) pen.fillRect((mark - from) * scale - dense, 0, 3 * dense, canvas.height);
    pen.strokeStyle = color("ink");
    pen.lineWidth = 2 * dense;
    const chosen = runs[state.at];
    if (overview) pen.strokeRect(state.from * scale + dense, dense, Math.max((state.to - state.from) * scale - 2 * dense, 2 * dense), canvas.height - 2 * dense);
    else if (chosen) pen.strokeRect((chosen.offset - from) * scale + dense, dense, Math.max(chosen.size * scale - 2 * dense, 2 * dense), canvas.height - 2 * dense);
  }

  function show(run) {
    const at = runs.indexOf(run);
    if (at >= 0) choose(at, true);
  }

  return { element, show, draw };
}
