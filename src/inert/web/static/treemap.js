// Bytes by module as nested rectangles. Knows: how to lay them out (squarified, Bruls et al. 2000). Refuses to know: where the numbers come from.

import { h, many, put, size, svg, visible } from "./dom.js";

const HEIGHT = 300; // pixels
const LINE = 19; // pixels of a title
const LETTER = 7; // pixels, about

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

// An element that shows a tree of {name, nbytes, tensors, children}, two levels at a time; a rectangle with children opens them.
export function treemap(tree) {
  const crumbs = h("nav", { class: "crumbs", "aria-label": "Modules" });
  const picture = svg("svg", { class: "treemap", role: "group", "aria-label": "Bytes by module" });
  const element = h("div", {}, crumbs, picture);
  let path = [tree];
  let wide = 0;

  function show(next) {
    path = next;
    const node = path[path.length - 1];
    put(
      crumbs,
      path.map((step, i) => [
        i > 0 && h("span", { "aria-hidden": "true" }, "›"),
        h("button", { class: "plain", type: "button", "aria-current": i === path.length - 1 && "true", onclick: () => show(path.slice(0, i + 1)) }, i ? visible(step.name, 40) : "all"),
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
    const said = `${visible(node.name, 100)}, ${size(node.nbytes)}, ${many(node.tensors, "tensor")}`;
    const open = () => show([...path, node]);
    const rect = svg("rect", { x: place.x, y: place.y, width: Math.max(0, place.w), height: Math.max(0, place.h), class: `tone${i % 8}` });
    const button = svg(
      "g",
      { role: opens ? "button" : "img", tabindex: opens && "0", "aria-label": said, onclick: opens && open, onkeydown: opens && ((event) => event.key === "Enter" && open()) },
      svg("title", {}, said),
      rect,
      name(place),
    );
    const room = place.w > 40 && place.h > 50;
    const box = { x: place.x + 3, y: place.y + LINE, w: place.w - 6, h: place.h - LINE - 3 };
    return [button, room && svg("g", { "aria-hidden": "true", class: "inside" }, layout(node.children, box).map(inner))];
  }

  function inner(place) {
    return [svg("rect", { x: place.x, y: place.y, width: Math.max(0, place.w), height: Math.max(0, place.h), class: "inner" }), name(place)];
  }

  function name({ node, x, y, w, h: tall }) {
    const room = Math.floor((w - 8) / LETTER);
    return tall > 18 && room > 2 && svg("text", { x: x + 5, y: y + 14 }, short(visible(node.name, 100), room));
  }

  new ResizeObserver(() => {
    if (element.clientWidth === wide || !element.clientWidth) return;
    wide = element.clientWidth;
    draw();
  }).observe(element);
  show([tree]);
  return element;
}

function short(text, room) {
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}
