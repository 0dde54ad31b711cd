// One tensor: what it is, its statistics, a picture of any plane of it, its values. Knows: how a plane is chosen.

import { copy, count, figure, h, many, put, shape, size, svg, visible } from "./dom.js";
import { address, get, has, isExported, stream } from "./data.js";
import { called } from "./names.js";
import { facts_of } from "./overview.js";
import { damaged } from "./verified.js";

const SIDE = 384; // pixels of the picture, at most
const CELL = 48; // pixels of one of its values on the screen, at most

export async function tensorPage(main, { file, index, rest, signal }) {
  if (file.refused) throw new Error(file.refused);
  const row = Number(rest[0]);
  const one = await get(`${index}/tensor`, { row });
  if (signal.aborted) return;
  document.title = `${called(one.name, 60)} · ${document.title}`;
  const held = one.numeric && !(isExported() && !has(`${index}/values`, corner(one, row, start(one))));
  put(main, head(one, index, row), h("div", { class: "columns" }, about(one, index), held ? statistics(one, index, row, signal) : refused(one)));
  if (one.elements > 0 && !one.fault && (held || (one.dtype === "string" && !isExported()))) main.append(plane(one, index, row, signal));
}

function refused(one) {
  const left = "Values were not exported into this page: inert view shows them, and --export PAGE --values exports those of the first tensors.";
  const why = isExported() && (one.numeric || one.dtype === "string") ? left : visible(one.why || "this tensor has no values to show", 500);
  return h("section", { class: "card" }, h("h2", {}, "Values"), h("p", {}, why));
}

function head(one, index, row) {
  return h(
    "section",
    { class: "card" },
    h("p", { class: "crumbs" }, h("a", { href: `#/${index}/tensors` }, "Tensors"), h("span", { "aria-hidden": "true" }, "›"), h("span", {}, `row ${count(row)}`)),
    h("h1", { class: "mono" }, called(one.name, 1000)),
    h("div", { class: "badges" }, h("span", { class: "badge" }, one.dtype), h("span", { class: "badge mono" }, shape(one.shape)), h("span", { class: "badge" }, size(one.nbytes)), (one.fault || damaged(index).tensors.has(one.name)) && h("span", { class: "badge bad" }, "damaged")),
    one.fault && h("p", {}, visible(one.fault, 800)),
    h(
      "div",
      { class: "tools again" },
      h("button", { type: "button", onclick: () => copy(one.name) }, "Copy the name"),
      !isExported() && !one.fault && h("a", { class: "button", href: address(`${index}/npy`, { row }), download: "" }, "Download .npy"),
    ),
  );
}

function about(one, index) {
  const said = {
    elements: one.elements,
    strides: shape(one.strides),
    kind: one.kind,
    storage: one.storage,
    "offset in storage": one.offset,
    file: one.file,
    "offset in file": one.file_offset,
    device: one.device,
    "requires grad": one.requires_grad ? "yes" : "no",
    class: one.type,
    placement: one.placement,
  };
  const kept = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined && value !== null && value !== ""));
  const sharers = one.sharers.slice(0, 20).map((other, i) => [i > 0 && ", ", h("a", { href: `#/${index}/tensor/${other}` }, `row ${count(other)}`)]);
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "What it is"),
    facts_of(kept),
    one.sharing > 1 && h("p", {}, `Shares its storage with ${many(one.sharing - 1, "other tensor")}: `, sharers, one.sharing > 21 && " …"),
    one.components && [h("h2", { class: "again" }, "Components"), facts_of(Object.fromEntries(Object.entries(one.components).map(([name, part]) => [name, `${part.dtype} ${shape(part.shape)}`])))],
    one.quantization && [h("h2", { class: "again" }, "Quantisation"), facts_of(one.quantization)],
  );
}

// -- statistics

function statistics(one, index, row, signal) {
  const place = h("div", {}, h("progress", { "aria-label": "Reading the tensor", max: 1, value: 0 }));
  const bar = place.firstChild;
  stream(`${index}/stats`, { row }, (step) => bar.setAttribute("value", step.total ? step.done / step.total : 0), signal)
    .then((found) => put(place, counted(found)))
    .catch((error) => signal.aborted || put(place, h("p", {}, visible(error.message, 500))));
  return h("section", { class: "card" }, h("h2", {}, "Statistics"), place);
}

function counted({ stats, odd }) {
  const names = [["min", stats.min], ["max", stats.max], ["mean", stats.mean], ["std", stats.std], ["zeros", stats.zeros], ["NaN", stats.nan], ["infinite", stats.inf]];
  const places = Object.entries(odd || {}).filter(([, found]) => found.length);
  return [
    h("dl", { class: "facts" }, names.map(([name, value]) => [h("dt", {}, name), h("dd", {}, figure(value))])),
    stats.note && h("p", { class: "quiet" }, stats.note),
    stats.histogram && histogram(stats.histogram),
    places.map(([name, found]) => h("p", { class: "mono" }, `${name} at `, found.map(shape).join(" "), (name === "nan" ? stats.nan : stats.inf) > found.length && " …")),
  ];
}

// spans: of integers, the first and the last that each bin holds; figures of edges between them would be rounded.
export function histogram({ edges, counts, spans }) {
  const most = Math.max(...counts, 1);
  const wide = 600 / counts.length;
  const whole = spans || counts.map((_, i) => [edges[i], edges[i + 1]]);
  const [first, last] = [whole[0][0], whole[whole.length - 1][1]].map(figure);
  const said = ([from, to]) => (String(from) === String(to) ? figure(from) : `${figure(from)} to ${figure(to)}`);
  return svg(
    "svg",
    { class: "histogram", viewBox: "0 0 600 180", role: "img", "aria-label": `Histogram from ${first} to ${last}` },
    counts.map((number, i) => {
      const tall = number ? Math.max(1, (number / most) * 150) : 0;
      return svg("rect", { x: i * wide + 1, y: 155 - tall, width: Math.max(1, wide - 2), height: tall }, svg("title", {}, `${said(whole[i])}: ${count(number)}`));
    }),
    svg("text", { x: 2, y: 173 }, first),
    svg("text", { x: 598, y: 173, "text-anchor": "end" }, last),
  );
}

// -- a plane: two axes shown, the others held

function start(one) {
  const rank = one.shape.length;
  return { axes: [...Array(rank).keys()].slice(-2), at: Array(rank).fill(0), first: 0, left: 0 };
}

// What is asked for a plane, and for the corner of it that is shown as values.
function chosen(row, state) {
  return { row, axes: state.axes.join(","), at: state.at.join(",") };
}

function corner(one, row, state) {
  const [rows, cols] = extent(one, state);
  return { ...chosen(row, state), rows: `${state.first}:${Math.min(rows, state.first + 32)}`, cols: `${state.left}:${Math.min(cols, state.left + 16)}` };
}

function plane(one, index, row, signal) {
  const rank = one.shape.length;
  const state = start(one);
  const picture = h("canvas", { class: "picture", role: "img", "aria-label": "Heat map of the plane" });
  const scale = h("p", { class: "quiet" });
  const values = h("div", { class: "scrollx", tabindex: "0", role: "region", "aria-label": "Values" });
  const sliders = h("div", { class: "sliders" });
  let asked = 0;

  async function refresh() {
    asked += 1;
    const mine = asked;
    try {
      if (one.numeric) await paint(mine);
      await list(mine);
    } catch (error) {
      if (mine === asked && !signal.aborted) put(values, h("p", {}, visible(error.message, 500)));
    }
  }

  async function paint(mine) {
    const found = await get(`${index}/image`, { ...chosen(row, state), max: SIDE });
    if (mine !== asked || signal.aborted) return;
    draw(picture, found);
    scale.textContent = found.low === null ? "no finite values in this plane" : `${figure(found.low)}${found.low === found.high ? "" : ` to ${figure(found.high)}`}${found.exact ? "" : `, means of blocks: ${count(found.rows)} × ${count(found.cols)} values as ${found.height} × ${found.width}`}${found.nan ? `, ${count(found.nan)} not finite` : ""}`;
  }

  async function list(mine) {
    const found = await get(`${index}/values`, corner(one, row, state));
    if (mine !== asked || signal.aborted) return;
    put(values, written(found, one), !isExported() && pager(found, state, refresh));
  }

  function controls() {
    put(
      sliders,
      rank > 2 && axes(one, state, () => (controls(), refresh())),
      [...Array(rank).keys()].filter((axis) => !state.axes.includes(axis)).map((axis) => slider(one, state, axis, refresh)),
    );
  }

  addEventListener("inert-theme", refresh, { signal });
  if (!isExported()) controls(); // which holds this plane only
  refresh();
  return h("section", { class: "card" }, h("h2", {}, rank < 3 ? "Values" : isExported() ? "The first plane of it" : "A plane of it"), sliders, h("div", { class: "columns again" }, one.numeric && h("div", {}, picture, scale), values));
}

function extent(one, state) {
  return [1, 1, ...state.axes.map((axis) => one.shape[axis])].slice(-2);
}

function slider(one, state, axis, refresh) {
  const shown = h("output", {}, "0");
  shown.textContent = state.at[axis];
  const input = h("input", { type: "range", min: 0, max: one.shape[axis] - 1, value: state.at[axis], "aria-label": `Index of dimension ${axis}` });
  input.addEventListener("input", () => {
    state.at[axis] = Number(input.value);
    shown.textContent = input.value;
    refresh();
  });
  return h("label", {}, h("span", {}, `dimension ${axis} (${count(one.shape[axis])})`), input, shown);
}

function axes(one, state, changed) {
  const choose = (which) =>
    h(
      "select",
      {
        "aria-label": which ? "Columns" : "Rows",
        onchange: (event) => {
          const axis = Number(event.target.value);
          if (state.axes[1 - which] === axis) state.axes[1 - which] = state.axes[which];
          state.axes[which] = axis;
          [state.first, state.left] = [0, 0];
          changed();
        },
      },
      one.shape.map((length, axis) => h("option", { value: axis, selected: state.axes[which] === axis }, `${which ? "columns" : "rows"}: dimension ${axis} (${count(length)})`)),
    );
  return h("div", { class: "tools" }, choose(0), choose(1));
}

function written(found, one) {
  const spell = (value) => (typeof value === "object" ? JSON.stringify(value) : one.numeric ? figure(value) : String(value));
  const wide = found.values.length ? found.values[0].length : 0;
  const top = h("tr", {}, h("th", {}, ""), [...Array(wide).keys()].map((i) => h("th", { scope: "col" }, count(found.left + i))));
  const lines = found.values.map((line, i) => h("tr", {}, h("th", { scope: "row" }, count(found.first + i)), line.map((value) => h("td", {}, visible(spell(value), 40)))));
  return h("table", { class: "values" }, h("thead", {}, top), h("tbody", {}, lines));
}

function pager(found, state, refresh) {
  const step = (key, by, most, title) =>
    h(
      "button",
      {
        type: "button",
        disabled: by < 0 ? state[key] === 0 : state[key] + by >= most,
        onclick: () => {
          state[key] = Math.max(0, state[key] + by);
          refresh();
        },
      },
      title,
    );
  if (found.rows <= 32 && found.cols <= 16) return null;
  return h("div", { class: "tools" }, step("first", -32, found.rows, "↑"), step("first", 32, found.rows, "↓"), step("left", -16, found.cols, "←"), step("left", 16, found.cols, "→"), h("span", { class: "quiet" }, `of ${count(found.rows)} × ${count(found.cols)}`));
}

// Blue to white to red around zero where both signs are there, else from pale to dark; what is not finite is magenta.
function draw(canvas, { height, width, dtype, mean, ...said }) {
  const [low, high] = [said.low, said.high].map(Number); // for colours, which need not be exact
  canvas.width = Math.max(1, width);
  canvas.height = Math.max(1, height);
  canvas.style.setProperty("--most", `${Math.max(width, height) * CELL}px`);
  canvas.style.setProperty("--ratio", `${Math.min(4, Math.max(0.25, width / Math.max(1, height)))}`);
  if (!width || !height) return;
  const bytes = Uint8Array.from(atob(mean), (c) => c.charCodeAt(0));
  const numbers = dtype === "<f8" ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(width, height);
  const signs = low < 0 && high > 0;
  const reach = signs ? Math.max(-low, high) : 1;
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
  numbers.forEach((value, i) => {
    const [r, g, b] = !Number.isFinite(value) ? [214, 40, 160] : signs ? signed(value / reach, dark) : ramp(high > low ? (value - low) / (high - low) : 0.5);
    pixels.data.set([r, g, b, 255], 4 * i);
  });
  context.putImageData(pixels, 0, 0);
}

function signed(part, dark) {
  const middle = dark ? [28, 35, 36] : [250, 249, 245];
  const end = part < 0 ? (dark ? [96, 165, 230] : [31, 92, 158]) : dark ? [240, 120, 96] : [176, 42, 30];
  const how = Math.sqrt(Math.abs(part));
  return middle.map((c, i) => Math.round(c + (end[i] - c) * how));
}

// Points of viridis (van der Walt and Smith, CC0), mixed linearly.
const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function ramp(part) {
  const at = Math.max(0, Math.min(RAMP.length - 2, Math.floor(part * (RAMP.length - 1))));
  const how = part * (RAMP.length - 1) - at;
  return RAMP[at].map((c, i) => Math.round(c + (RAMP[at + 1][i] - c) * how));
}
