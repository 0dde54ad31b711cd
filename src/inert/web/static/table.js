// A table of any number of rows, of which only those in sight are elements. Knows: scrolling, the keyboard, columns. Refuses to know: what rows are.

import { h, put } from "./dom.js";

const LINE = 30; // pixels of a row
const TWO = 52; // of one whose name has a line of its own, in a narrow window
const TALL = 12_000_000; // pixels that browsers still scroll through

// columns: [{key, title, class, cell: (row) → text or node, sort: bool}]. onOpen(row) for Enter and clicks. Gives {element, show(rows), focus}.
export function table({ columns, onOpen, onSort, label, sorted, sort_of }) {
  let rows = [];
  const HEIGHT = matchMedia("(max-width: 640px)").matches ? TWO : LINE;
  let at = 0; // the row that the keyboard is on
  const body = h("div", { class: "rows", role: "rowgroup" });
  const space = h("div", { class: "space", role: "presentation" }, body);
  const head = h("div", { class: "row head", role: "row" }, columns.map(title));
  const box = h(
    "div",
    { class: "scroll", tabindex: "0", role: "grid", "aria-label": label, "aria-readonly": "true", onscroll: () => requestAnimationFrame(draw), onkeydown: keys },
    h("div", { class: "top-row", role: "rowgroup" }, head),
    space,
  );
  const element = h("div", { class: sort_of ? `grid ${sort_of}` : "grid" }, box);

  function title(column) {
    const direction = sorted && sorted.key === column.key ? (sorted.down ? "descending" : "ascending") : "none";
    const props = { class: `cell ${column.class || ""}`, role: "columnheader", "aria-sort": column.sort && direction };
    if (!column.sort) return h("div", props, column.title);
    const mark = { none: "", ascending: " ↑", descending: " ↓" }[direction];
    return h("div", props, h("button", { class: "plain", type: "button", onclick: () => onSort(column.key) }, column.title + mark));
  }

  function tall() {
    return Math.max(HEIGHT, box.clientHeight - LINE); // below the titles
  }

  function scale() {
    const whole = rows.length * HEIGHT;
    return whole > TALL ? (TALL - tall()) / (whole - tall()) : 1;
  }

  function draw() {
    const view = Math.ceil(tall() / HEIGHT) + 1;
    const top = box.scrollTop / scale();
    const first = Math.max(0, Math.min(rows.length - view, Math.floor(top / HEIGHT)));
    const shift = box.scrollTop - (top - first * HEIGHT);
    body.style.setProperty("transform", `translateY(${Math.max(0, shift)}px)`);
    put(
      body,
      rows.slice(first, first + view).map((row, i) => line(row, first + i)),
    );
  }

  function line(row, number) {
    const here = number === at;
    return h(
      "div",
      { class: here ? "row here" : "row", role: "row", id: `row-${number}`, "aria-rowindex": number + 2, "aria-selected": here && "true", onclick: () => open(number) },
      columns.map((column) => h("div", { class: `cell ${column.class || ""}`, role: "gridcell" }, column.cell(row))),
    );
  }

  function open(number) {
    if (String(getSelection())) return; // somebody is marking text
    at = number;
    onOpen(rows[number]);
  }

  function keys(event) {
    if (event.target !== box) return; // a button of the titles
    const page = Math.max(1, Math.floor(tall() / HEIGHT) - 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: rows.length - 1 }[event.key];
    if (event.key === "Enter" && rows[at]) onOpen(rows[at]);
    if (to === undefined || !rows.length) return;
    event.preventDefault();
    at = Math.max(0, Math.min(rows.length - 1, to));
    reveal();
  }

  function reveal() {
    const high = at * HEIGHT;
    const top = box.scrollTop / scale();
    if (high < top) box.scrollTop = high * scale();
    else if (high + HEIGHT > top + tall()) box.scrollTop = (high + HEIGHT - tall()) * scale();
    draw();
    box.setAttribute("aria-activedescendant", `row-${at}`);
  }

  function show(next) {
    rows = next;
    at = 0;
    box.scrollTop = 0;
    box.setAttribute("aria-rowcount", rows.length + 1);
    box.removeAttribute("aria-activedescendant");
    element.style.setProperty("--tall", `${rows.length * HEIGHT}px`);
    space.style.setProperty("height", `${Math.min(TALL, rows.length * HEIGHT)}px`);
    draw();
  }

  function arrange(next) {
    sorted = next;
    put(head, columns.map(title));
  }

  new ResizeObserver(() => draw()).observe(box);
  return { element, show, arrange, focus: () => box.focus() };
}
