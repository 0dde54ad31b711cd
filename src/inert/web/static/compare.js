// Two files side by side: what one has that the other has not. Knows: how differences look. Refuses to know: how they are found.

import { count, figure, h, many, put, shape, visible } from "./dom.js";
import { get, stream } from "./data.js";
import { called, label } from "./names.js";
import { histogram } from "./tensor.js";

const SHOWN = 300;

export async function comparePage(main, { files, a, b, signal }) {
  const choose = (which) =>
    h(
      "select",
      { "aria-label": which ? "B" : "A", onchange: (event) => (location.hash = which ? `#/compare/${a}/${event.target.value}` : `#/compare/${event.target.value}/${b}`) },
      files.map((file) => h("option", { value: file.index, selected: file.index === (which ? b : a) }, label(files, file, 80))),
    );
  const place = h("div", { class: "stack" }, h("p", { class: "quiet" }, "Comparing …"), h("progress", { "aria-label": "Comparing", max: 1, value: 0 }));
  const bar = place.lastChild;
  put(main, h("section", { class: "card wide" }, h("h1", {}, "What differs"), h("div", { class: "tools" }, h("span", { class: "pair" }, "A", choose(0)), h("span", { class: "pair" }, "B", choose(1)))), place);
  const progress = ({ done, total }) => bar.setAttribute("value", total ? Math.min(1, done / total) : 0);
  const found = await stream("compare", { a, b }, progress, signal);
  if (signal.aborted) return;
  put(place, verdict(found), changed(found, a, b, signal), names("In A only", found.removed), names("In B only", found.added), renamed(found.renamed), values(found), minor(found.minor));
}

function verdict(found) {
  return h(
    "section",
    { class: "card" },
    found.summary.map((sentence, i) => h("p", {}, i === 0 && mark(found.same), visible(i === 0 ? sentence.replace(/^(different|the same): /, "") : sentence, 800))),
    h("p", { class: "quiet" }, `A holds ${many(found.a.tensors, "tensor")}, B ${many(found.b.tensors, "tensor")}`),
  );
}

function mark(same) {
  return [h("span", { class: `badge ${same ? "good" : "warn"}` }, same ? "the same" : "different"), " "];
}

function changed(found, a, b, signal) {
  const rows = [...found.changed, ...found.close];
  if (!rows.length) return null;
  const head = ["tensor", "what differs", "elements", "largest difference", "relative"].map((title, i) => h("th", { scope: "col", class: i > 1 && "number" }, title));
  return h(
    "section",
    { class: "card" },
    h("h2", {}, `${many(rows.length, "tensor")} changed`),
    h("div", { class: "scrollx", tabindex: "0", role: "region", "aria-label": "Changed tensors" }, h("table", { class: "plain restack" }, h("thead", {}, h("tr", {}, head)), rows.slice(0, SHOWN).map((one) => h("tbody", {}, row(one, a, b, signal))))),
    rows.length > SHOWN && h("p", { class: "quiet" }, `and ${count(rows.length - SHOWN)} more: inert diff --json lists them all`),
  );
}

function row(one, a, b, signal) {
  const place = h("tr", { hidden: true });
  const both = (pair, write) => (write(pair[0]) === write(pair[1]) ? write(pair[0]) : `${write(pair[0])} → ${write(pair[1])}`);
  const line = h(
    "tr",
    {},
    h("td", {}, one.count ? h("button", { class: "plain mono name", type: "button", "aria-expanded": "false", onclick: open }, called(one.name)) : h("span", { class: "mono" }, called(one.name)), one.other && h("div", { class: "quiet mono" }, `in B: ${called(one.other)}`)),
    cell("what differs", one.differs.join(", "), h("div", { class: "quiet mono" }, `${both(one.dtype, String)} ${both(one.shape, shape)}`), one.why && h("div", { class: "quiet" }, visible(one.why, 300))),
    cell("elements", typeof one.count === "number" ? [`${count(one.count)} of ${count(one.elements)}`, one.nan[0] !== one.nan[1] && h("div", { class: "quiet" }, `NaN: ${count(one.nan[0])} → ${count(one.nan[1])}`)] : "–"),
    cell("largest difference", figure(one.max_abs), one.max_abs_at && h("div", { class: "quiet mono" }, `at ${shape(one.max_abs_at)}`)),
    cell("relative", figure(one.max_rel)),
  );
  return [line, place];

  function cell(title, ...content) {
    return h("td", { class: title === "what differs" ? "" : "number", "data-title": title }, h("div", {}, content));
  }

  async function open(event) {
    place.hidden = !place.hidden;
    event.target.setAttribute("aria-expanded", String(!place.hidden));
    if (place.hidden || place.dataset.asked) return;
    place.dataset.asked = "yes";
    const cell = h("td", { colspan: 5 }, h("progress", { "aria-label": "Reading both tensors", max: 1, value: 0 }));
    put(place, cell);
    try {
      const found = await stream("compare/tensor", { a, b, name: one.name, other: one.other }, (step) => cell.firstChild.setAttribute("value", step.total ? Math.min(1, step.done / step.total) : 0), signal);
      put(cell, found.histogram ? [h("p", { class: "quiet" }, "B − A, element by element"), histogram(found.histogram)] : visible(found.why || "there is no histogram of it", 300));
    } catch (error) {
      if (!signal.aborted) put(cell, visible(error.message, 400));
    }
  }
}

function names(title, found) {
  return found.length > 0 && h("section", { class: "card" }, h("h2", {}, `${title}: ${many(found.length, "tensor")}`), h("ul", { class: "names mono", tabindex: "0" }, found.slice(0, SHOWN).map((name) => h("li", {}, called(name)))), found.length > SHOWN && h("p", { class: "quiet" }, `and ${count(found.length - SHOWN)} more`));
}

function renamed(found) {
  return found.length > 0 && h("section", { class: "card" }, h("h2", {}, `Under another name: ${many(found.length, "tensor")}`), h("ul", { class: "names mono", tabindex: "0" }, found.slice(0, SHOWN).map((one) => h("li", {}, called(one.a), " → ", called(one.b)))), found.length > SHOWN && h("p", { class: "quiet" }, `and ${count(found.length - SHOWN)} more`));
}

function values(found) {
  if (!found.values.length) return null;
  const spell = (one, key) => (key in one ? visible(one[key], 300) : "–");
  return h(
    "section",
    { class: "card" },
    h("h2", {}, `${many(found.values_count, "other value")}`),
    h("div", { class: "scrollx", tabindex: "0", role: "region", "aria-label": "Other values" }, h("table", { class: "plain restack" }, h("thead", {}, h("tr", {}, ["path", "A", "B"].map((title) => h("th", { scope: "col" }, title)))), h("tbody", {}, found.values.slice(0, SHOWN).map((one) => h("tr", {}, h("td", { class: "mono" }, visible(one.path, 200)), h("td", { class: "mono", "data-title": "A" }, h("div", {}, spell(one, "a"))), h("td", { class: "mono", "data-title": "B" }, h("div", {}, spell(one, "b")))))))),
    found.values_count > SHOWN && h("p", { class: "quiet" }, `and ${count(found.values_count - SHOWN)} more`),
  );
}

function minor(found) {
  return found.length > 0 && h("section", { class: "card" }, h("h2", {}, "No matter for the values"), h("ul", {}, found.map((one) => h("li", {}, `${one.what}: ${count(one.count)}`, one.a && ` (${visible(one.a, 80)} → ${visible(one.b, 80)})`))));
}
