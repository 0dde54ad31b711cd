// All tensors in one table, or as a tree of modules. Knows: searching, filtering and sorting columns of any length.

import { copy, count, h, many, put, shape, size, svg, visible } from "./dom.js";
import { get } from "./data.js";
import { called } from "./names.js";
import { table } from "./table.js";
import { damaged } from "./verified.js";

const SIZES = [["", "any size"], ["1e3", "over 1 kB"], ["1e6", "over 1 MB"], ["1e8", "over 100 MB"], ["1e9", "over 1 GB"]];

export async function tensorsPage(main, { file, index, signal }) {
  if (file.refused) throw new Error(file.refused);
  const data = marked(await get(`${index}/tensors`), damaged(index).tensors);
  if (signal.aborted) return;
  const lower = data.names.map((name) => name.toLowerCase());
  const state = { words: "", dtype: "", rank: "", over: "", odd: "", key: "", down: false };
  const grid = table({
    columns: columns(data),
    label: "Tensors",
    onOpen: (row) => {
      location.hash = `#/${index}/tensor/${row}`;
    },
    onSort: (key) => {
      state.down = state.key === key ? !state.down : key !== "name";
      state.key = key;
      grid.arrange(state);
      refresh();
    },
  });
  const said = h("p", { class: "quiet", role: "status" });
  const tree = h("div", { class: "tree", hidden: true });
  const search = h("input", { type: "search", placeholder: "Search names   ( / )", "aria-label": "Search names", oninput: change("words") });
  const tools = h(
    "div",
    { class: "tools" },
    search,
    select("Element type", [["", "any type"], ...data.dtypes.map((name, i) => [String(i), name])], change("dtype")),
    select("Dimensions", [["", "any rank"], ...ranks(data).map((rank) => [String(rank), `${rank}-d`])], change("rank")),
    select("Size", SIZES, change("over")),
    select("Only", [["", "all"], ["shared", "sharing storage"], ["fault", "damaged"], ["special", "not dense"]], change("odd")),
    h("button", { type: "button", "aria-pressed": "false", onclick: flip }, "Tree"),
  );

  function change(key) {
    return (event) => {
      state[key] = event.target.value;
      refresh();
    };
  }

  function flip(event) {
    tree.hidden = !tree.hidden;
    grid.element.hidden = !tree.hidden;
    event.target.setAttribute("aria-pressed", String(!tree.hidden));
    refresh();
  }

  function refresh() {
    const rows = sorted(data, matching(data, lower, state), state);
    const bytes = rows.reduce((sum, row) => sum + data.nbytes[row], 0);
    said.textContent = rows.length === data.count ? `${many(data.count, "tensor")}, ${size(bytes)}` : `${count(rows.length)} of ${many(data.count, "tensor")}, ${size(bytes)}`;
    if (tree.hidden) grid.show(rows);
    else put(tree, branches(data, rows, index));
  }

  put(main, h("h1", { class: "hidden" }, "Tensors"), h("div", { class: "tall" }, tools, said, grid.element, tree));
  refresh();
}

// The tensors with those that verification found damaged among the faults.
function marked(data, wrong) {
  if (!wrong.size) return data;
  const found = Object.fromEntries(data.names.map((name, row) => [row, name]).filter(([, name]) => wrong.has(name)));
  return { ...data, faults: { ...found, ...data.faults } };
}

function columns(data) {
  return [
    { key: "name", title: "name", sort: true, class: "name mono", cell: (row) => [data.faults[row] && [h("span", { class: "badge bad" }, "damaged"), " "], called(data.names[row])] },
    { key: "dtype", title: "type", sort: true, cell: (row) => data.dtypes[data.dtype[row]] },
    { key: "shape", title: "shape", sort: true, class: "mono", cell: (row) => shape(data.shapes[data.shape[row]]) },
    { key: "nbytes", title: "size", sort: true, class: "number", cell: (row) => size(data.nbytes[row]) },
    { key: "sharing", title: "shares", sort: true, class: "number less", cell: (row) => (data.sharing[row] > 1 ? `with ${count(data.sharing[row] - 1)}` : "") },
    { key: "kind", title: "kind", sort: true, class: "less", cell: (row) => (data.kinds[data.kind[row]] === "dense" ? "" : data.kinds[data.kind[row]]) },
    { key: "copy", title: "", class: "number less", cell: (row) => copier(data.names[row]) },
  ];
}

function copier(name) {
  return h(
    "button",
    {
      class: "plain",
      type: "button",
      tabindex: "-1",
      "aria-label": "Copy the name",
      title: "Copy the name",
      onclick: (event) => {
        event.stopPropagation();
        copy(name);
      },
    },
    icon(),
  );
}

// Two sheets, one over the other.
function icon() {
  return svg("svg", { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" }, svg("path", { d: "M2 2h8v3h-5v5h-3zM6 6h8v8h-8z" }));
}

function select(label, choices, onchange) {
  return h("select", { "aria-label": label, onchange }, choices.map(([value, title]) => h("option", { value }, title)));
}

function ranks(data) {
  return [...new Set(data.shapes.map((sizes) => sizes.length))].sort((a, b) => a - b);
}

function matching(data, lower, state) {
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  const over = Number(state.over) || -1;
  const odd = {
    "": () => true,
    shared: (row) => data.sharing[row] > 1,
    fault: (row) => row in data.faults,
    special: (row) => data.kinds[data.kind[row]] !== "dense",
  }[state.odd];
  const found = [];
  for (let row = 0; row < data.count; row += 1) {
    if (state.dtype !== "" && data.dtype[row] !== Number(state.dtype)) continue;
    if (state.rank !== "" && data.shapes[data.shape[row]].length !== Number(state.rank)) continue;
    if (data.nbytes[row] <= over || !odd(row)) continue;
    if (words.every((word) => lower[row].includes(word) || shape(data.shapes[data.shape[row]]).includes(word))) found.push(row);
  }
  return found;
}

function sorted(data, rows, state) {
  if (!state.key) return rows;
  const order = new Intl.Collator("en", { numeric: true }).compare;
  const keys = {
    name: (a, b) => order(data.names[a], data.names[b]),
    dtype: (a, b) => order(data.dtypes[data.dtype[a]], data.dtypes[data.dtype[b]]),
    shape: (a, b) => data.shapes[data.shape[a]].length - data.shapes[data.shape[b]].length || product(data, a) - product(data, b),
    nbytes: (a, b) => data.nbytes[a] - data.nbytes[b],
    sharing: (a, b) => data.sharing[a] - data.sharing[b],
    kind: (a, b) => order(data.kinds[data.kind[a]], data.kinds[data.kind[b]]),
  }[state.key];
  const way = state.down ? -1 : 1;
  return [...rows].sort((a, b) => way * keys(a, b) || a - b);
}

function product(data, row) {
  return data.shapes[data.shape[row]].reduce((all, one) => all * one, 1);
}

// -- the tree: modules by the dots of names, opened one by one

function branches(data, rows, index, depth = 0) {
  const groups = new Map();
  for (const row of rows) {
    const steps = data.names[row].split(".");
    const leaf = steps.length <= depth + 1;
    const key = leaf ? `${row}` : steps[depth];
    if (!groups.has(key + leaf)) groups.set(key + leaf, { name: leaf ? steps.slice(depth).join(".") : key, leaf, rows: [] });
    groups.get(key + leaf).rows.push(row);
  }
  const shown = [...groups.values()];
  return h(
    "ul",
    { class: "branches" },
    shown.slice(0, 500).map((group) => h("li", {}, group.leaf ? leaf(data, group.rows[0], group.name, index) : branch(data, group, index, depth))),
    shown.length > 500 && h("li", { class: "quiet" }, `and ${count(shown.length - 500)} more: search for them`),
  );
}

function leaf(data, row, name, index) {
  return [h("a", { href: `#/${index}/tensor/${row}`, class: "mono" }, called(name)), h("span", { class: "quiet" }, ` ${data.dtypes[data.dtype[row]]} ${shape(data.shapes[data.shape[row]])} ${size(data.nbytes[row])}`)];
}

function branch(data, group, index, depth) {
  const bytes = group.rows.reduce((sum, row) => sum + data.nbytes[row], 0);
  const made = h("details", {}, h("summary", {}, h("span", { class: "mono" }, visible(group.name, 200)), h("span", { class: "quiet" }, ` ${many(group.rows.length, "tensor")}, ${size(bytes)}`)));
  made.addEventListener("toggle", () => made.open && made.children.length === 1 && made.append(branches(data, group.rows, index, depth + 1)));
  return made;
}
