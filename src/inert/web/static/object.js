// The saved object as a tree that opens step by step. Knows: how each kind of value is drawn. Refuses to know: what values mean.

import { count, h, many, put, visible } from "./dom.js";
import { get } from "./data.js";
import { TONE } from "./verdicts.js";

const PAGE = 200;
const INERT = {
  global: ["names", "a name that the file asks for; it was not imported"],
  call: ["calls", "a call that the file asks for; it was not made"],
  reference: ["refers", "a reference to something outside of the pickle"],
};
const OPENS = new Set(["dict", "list", "tuple", "set", "object", "call", "reference", "tensor"]);

export async function objectPage(main, { file, index, rest, signal }) {
  if (file.refused) throw new Error(file.refused);
  const path = rest[0] || "";
  const root = await get(`${index}/object`, { path, count: PAGE });
  if (signal.aborted) return;
  put(
    main,
    h(
      "section",
      { class: "card wide" },
      h("h1", {}, path ? "Part of the saved object" : "The saved object"),
      path && h("p", { class: "crumbs mono" }, h("a", { href: `#/${index}/object` }, "all"), root.names.map((name, i) => [h("span", { "aria-hidden": "true" }, "›"), h("a", { href: `#/${index}/object/${path.split(".").slice(0, i + 1).join(".")}` }, visible(name, 60))])),
      h("p", { class: "quiet" }, "What the file says is to be built. Nothing of it was run: names, calls and objects of other classes stand here as what the file says, each with the verdict of its name."),
      h("p", {}, head(root, index)),
      inside(root, index),
    ),
  );
}

// One value in a line: its kind, its class, what can be said of it in a few words.
function head(node, index) {
  const inert = INERT[node.kind];
  return [
    node.verdict && [h("span", { class: `badge ${TONE[node.verdict] || "warn"}`, title: visible(node.why, 300) }, node.verdict), " "],
    inert && [h("span", { class: `badge inert-${node.kind}`, title: inert[1] }, inert[0]), " "],
    named(node),
    node.label !== "" && [" ", h("span", { class: node.kind === "text" ? "mono text" : "mono" }, label(node))],
    typeof node.row === "number" && [" ", h("a", { href: `#/${index}/tensor/${node.row}` }, "values")],
  ];
}

function named(node) {
  if (["dict", "list", "tuple", "set"].includes(node.kind)) return h("span", { class: "quiet" }, `${visible(node.type, 120)}, ${many(node.count, "item")}`);
  if (node.kind === "object") return h("span", { class: "quiet" }, visible(node.type, 200));
  if (node.kind === "tensor") return h("span", { class: "badge" }, "tensor");
  if (["other", "bytes"].includes(node.kind)) return h("span", { class: "quiet" }, visible(node.type, 120));
  return node.kind === "none" ? h("span", { class: "mono quiet" }, "None") : null;
}

function label(node) {
  if (node.kind === "text") return `“${visible(node.label, 400)}”`;
  return typeof node.label === "number" ? String(node.label) : visible(node.label, 400);
}

function inside(node, index) {
  const list = h("ul", { class: "branches" });
  append(list, node, index);
  return list;
}

function append(list, node, index) {
  for (const child of node.children) list.append(h("li", {}, item(child, node, index)));
  const next = node.start + node.children.length;
  if (!node.children.length && next === 0) list.append(h("li", { class: "quiet" }, "empty"));
  if (next >= node.count || !node.children.length) return;
  const more = h("button", { type: "button", onclick: load }, `Show ${count(Math.min(PAGE, node.count - next))} more of ${count(node.count - next)}`);
  const place = h("li", {}, more);
  list.append(place);

  async function load() {
    more.disabled = true;
    try {
      const found = await get(`${index}/object`, { path: node.path, start: next, count: PAGE });
      place.remove();
      append(list, found, index);
    } catch (error) {
      put(place, visible(error.message, 300));
    }
  }
}

function item(child, parent, index) {
  const asks = child.key_verdict && [h("span", { class: `badge ${TONE[child.key_verdict] || "warn"}`, title: visible(child.key_why, 300) }, child.key_verdict), " ", h("span", { class: "badge inert-global", title: INERT.global[1] }, INERT.global[0]), " "];
  const key = [asks, h("span", { class: "mono key" }, visible(child.key, 200))];
  if (!OPENS.has(child.kind) || !child.count) return [key, " ", head(child, index)];
  const path = parent.path ? `${parent.path}.${child.at}` : String(child.at);
  const made = h("details", {}, h("summary", {}, key, " ", head(child, index)));
  made.addEventListener("toggle", open);
  return made;

  async function open() {
    if (!made.open || made.dataset.asked) return;
    made.dataset.asked = "yes";
    const place = h("div", {}, h("p", { class: "quiet" }, "Reading …"));
    made.append(place);
    try {
      put(place, inside(await get(`${index}/object`, { path, count: PAGE }), index));
    } catch (error) {
      put(place, h("p", {}, visible(error.message, 400)));
      delete made.dataset.asked;
    }
  }
}
