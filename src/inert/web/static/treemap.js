// Bytes by module as nested rectangles. Knows: how to lay them out (squarified, Bruls et al. 2000). Refuses to know: where the numbers come from.

import { h, many, put, size, svg } from "./dom.js";
import { called } from "./names.js";

const HEIGHT = 300; // pixels
const LINE = 19; // pixels of a title
const LETTER = 7; // pixels, about
const LEVELS = 3; // of what lies in a rectangle, where there is room

// A module of a single one stands for it: {node, name}, the name with a dot for each step; "…" stands for many.
function inmost(node) {
  const names = [node.name];
  let at = node;
  while (at.children.length === 1 && at.children[0].children.length) {
    [at] = at.children;
    names.push(at.name);
  }
  return { node: at, name: called(names.join("."), 100) };
}

// Rectangles {node, x, y, w, h} for nodes by their nbytes, the largest first, each as square as can be.
export function layout(nodes, box) {
  const made = [];
  const todo = nodes.filter((node) => node.nbytes > 0 && Number.isFinite(node.nbytes)).sort((a, b) => b.nbytes - a.nbytes);
  let { x, y, w, h: tall } = box;
  let left = todo.reduce((sum, node) => sum + node.nbytes, 0);
  let at = 0;
  while (at < todo.length && w > 0 && tall > 0) {
    const side = Math.min(w, tall);
    const unit = (w * tall) / left;
    let end = at;
    let sum = 0;
    let worst = Infinity;
    while (end < todo.length) {
      const more = sum + todo[end].nbytes * unit;
      const thick = more / side;
      const ratio = Math.max(...[todo[at], todo[end]].map((node) => squareness((node.nbytes * unit) / thick, thick)));
      if (end > at && ratio > worst) break;
      worst = ratio;
      sum = more;
      end += 1;
    }
    const thick = sum / side;
    let along = 0;
    for (const node of todo.slice(at, end)) {
      const long = (node.nbytes * unit) / thick;
      made.push(w >= tall ? { node, x, y: y + along, w: thick, h: long } : { node, x: x + along, y, w: long, h: thick });
      along += long;
      left -= node.nbytes;
    }
    if (w >= tall) [x, w] = [x + thick, w - thick];
    else [y, tall] = [y + thick, tall - thick];
    at = end;
  }
  return made;
}

function squareness(a, b) {
  return Math.max(a / b, b / a);
}

// An element that shows a tree of {name, nbytes, tensors, children}, some levels at a time; a rectangle with children opens them, and
// so do modules of a single one, down to the first that says something.
export function treemap(tree) {
  const crumbs = h("nav", { class: "crumbs", "aria-label": "Modules" });
  const picture = svg("svg", { class: "treemap", role: "group", "aria-label": "Bytes by module" });
  const element = h("div", {}, crumbs, picture);
  let path = [tree];
  let wide = 0;

  // A path that goes on to where there is more than one.
  function onward(next) {
    const last = next[next.length - 1];
    const [only] = last.children;
    return last.children.length === 1 && only.children.length ? onward([...next, only]) : next;
  }

  function show(next) {
    path = next;
    const node = path[path.length - 1];
    put(
      crumbs,
      path.map((step, i) => [
        i > 0 && h("span", { "aria-hidden": "true" }, "›"),
        h("button", { class: "plain", type: "button", "aria-current": i === path.length - 1 && "true", onclick: () => show(path.slice(0, i + 1)) }, i ? called(step.name, 40) : "all"),
      ]),
      h("span", { class: "quiet" }, ` ${size(node.nbytes)} in ${many(node.tensors, "tensor")}`),
    );
    draw();
  }

  function draw() {
    const node = path[path.length - 1];
    picture.setAttribute("viewBox", `0 0 ${wide} ${HEIGHT}`);
    const inside = node.children.length ? node.children : [node];
    put(
      picture,
      layout(inside, { x: 0, y: 0, w: wide, h: HEIGHT }).map((place, i) => tile(place, i)),
    );
  }

  function tile(place, i) {
    const { node } = place;
    const opens = node.children.length > 0;
    const said = `${inmost(node).name}, ${size(node.nbytes)}, ${many(node.tensors, "tensor")}`;
    const open = () => show(onward([...path, node]));
    const rect = svg("rect", { x: place.x, y: place.y, width: Math.max(0, place.w), height: Math.max(0, place.h), class: `tone${i % 8}` });
    const button = svg(
      "g",
      { role: opens ? "button" : "img", tabindex: opens && "0", "aria-label": said, onclick: opens && open, onkeydown: opens && ((event) => event.key === "Enter" && open()) },
      svg("title", {}, said),
      rect,
      name(place),
    );
    return [button, svg("g", { "aria-hidden": "true", class: "inside" }, inside(place, LEVELS))];
  }

  // What lies in a rectangle, below its title.
  function inside({ node, x, y, w, h: tall }, levels) {
    if (!levels || w <= 40 || tall <= 50) return null;
    const places = layout(inmost(node).node.children, { x: x + 3, y: y + LINE, w: w - 6, h: tall - LINE - 3 });
    return places.map((place) => [svg("rect", { x: place.x, y: place.y, width: Math.max(0, place.w), height: Math.max(0, place.h), class: "inner" }), name(place), inside(place, levels - 1)]);
  }

  function name({ node, x, y, w, h: tall }) {
    const room = Math.floor((w - 8) / LETTER);
    return tall > 18 && room > 2 && svg("text", { x: x + 5, y: y + 14 }, short(inmost(node).name, room));
  }

  new ResizeObserver(() => {
    if (element.clientWidth === wide || !element.clientWidth) return;
    wide = element.clientWidth;
    draw();
  }).observe(element);
  show(onward([tree]));
  return element;
}

function short(text, room) {
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}
