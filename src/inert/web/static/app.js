// The frame: which page of which file is shown. Knows: the addresses behind #, and the light. Refuses to know: what pages show.

import { h, put, visible } from "./dom.js";
import { get } from "./data.js";
import { label } from "./names.js";
import { overviewPage } from "./overview.js";
import { tensorsPage } from "./tensors.js";
import { tensorPage } from "./tensor.js";
import { objectPage } from "./object.js";
import { filePage } from "./file.js";
import { safetyPage } from "./safety.js";
import { comparePage } from "./compare.js";

const PAGES = [
  ["overview", "Overview", overviewPage],
  ["tensors", "Tensors", tensorsPage],
  ["object", "Object", objectPage],
  ["file", "File", filePage],
  ["safety", "Safety", safetyPage],
];
const OTHERS = { tensor: tensorPage };

let files = [];
let leaving = null; // ends what the page before still does

function parts() {
  return location.hash.replace(/^#\/?/, "").split("/").map(decoded);
}

function decoded(word) {
  try {
    return decodeURIComponent(word);
  } catch {
    return word; // somebody typed it
  }
}

function route() {
  const [first, page, ...rest] = parts();
  if (first === "compare") return { compare: true, a: Number(page) || 0, b: Number(rest[0]) || 0 };
  const index = Number(first) || 0;
  return { index: files[index] ? index : 0, page: page || "overview", rest };
}

function show() {
  const to = route();
  if (leaving) leaving.abort();
  leaving = new AbortController();
  const main = document.getElementById("main");
  chrome(to);
  if (to.compare) {
    document.title = "Compare · inert";
    open(main, comparePage, { files, a: to.a, b: to.b });
    return;
  }
  const file = files[to.index];
  const page = OTHERS[to.page] || (PAGES.find(([name]) => name === to.page) || PAGES[0])[2];
  document.title = `${label(files, file)} · inert`;
  open(main, page, { file, index: to.index, rest: to.rest, files });
}

async function open(main, page, at) {
  const signal = leaving.signal;
  put(main, h("p", { class: "quiet" }, "Reading …"));
  try {
    await page(main, { ...at, signal });
  } catch (error) {
    if (!signal.aborted) put(main, refused(error));
  }
  if (!signal.aborted) main.dataset.ready = location.hash || "#";
}

export function refused(error) {
  return h("div", { class: "card bad", role: "alert" }, h("h2", {}, "There is no answer"), h("p", {}, visible(error.message, 2000)));
}

function chrome(to) {
  const names = document.getElementById("files");
  const chosen = to.compare ? -1 : to.index;
  put(
    names,
    files.map((file, index) =>
      h("a", { href: `#/${index}/overview`, class: "file", "aria-current": index === chosen && "true", title: visible(file.path, 500) }, label(files, file, 40)),
    ),
    files.length > 1 && h("a", { href: "#/compare/0/1", class: "file", "aria-current": to.compare && "true" }, "Compare"),
  );
  const here = names.querySelector("[aria-current]");
  if (here) names.scrollLeft = here.offsetLeft + here.offsetWidth - names.offsetLeft - names.clientWidth; // in sight, where they do not all fit
  const pages = document.getElementById("pages");
  pages.hidden = Boolean(to.compare);
  const shown = to.page === "tensor" ? "tensors" : to.page;
  put(
    pages,
    PAGES.map(([name, title]) => h("a", { href: `#/${to.index}/${name}`, "aria-current": name === shown && "page" }, title)),
  );
}

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  dispatchEvent(new Event("inert-theme"));
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const to = route();
  const at = Number(event.key) - 1;
  if (!to.compare && PAGES[at]) location.hash = `#/${to.index}/${PAGES[at][0]}`;
  if (event.key === "/") {
    const search = document.querySelector("input[type=search]");
    if (search) {
      event.preventDefault();
      search.focus();
    }
  }
}

async function start() {
  const main = document.getElementById("main");
  document.getElementById("theme").addEventListener("click", theme);
  addEventListener("keydown", keys);
  try {
    files = (await get("files")).files;
  } catch (error) {
    put(main, refused(error));
    return;
  }
  addEventListener("hashchange", () => {
    show();
    main.focus({ preventScroll: true });
    scrollTo(0, 0);
  });
  show();
}

start();
