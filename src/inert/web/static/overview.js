// What the file is, in one look. Knows: how to say it. Refuses to know: how it was found out.

import { count, figure, h, many, put, size, visible } from "./dom.js";
import { get } from "./data.js";
import { treemap } from "./treemap.js";
import { called } from "./names.js";
import { notes } from "./notes.js";
import { TONE, alarming, verdict } from "./verdicts.js";
import { health, verifier } from "./verified.js";

const LOADS = [
  ["weights_only", "torch.load(weights_only=True)", "the default since torch 2.6"],
  ["full", "torch.load(weights_only=False)", "runs what the file names"],
  ["mmap", "torch.load(mmap=True)", "tensors mapped, not read"],
  ["jit", "torch.jit.load", ""],
];
export async function overviewPage(main, { file, index, signal }) {
  if (file.refused) {
    put(main, refusal(file, index));
    safety(main, index, signal);
    return;
  }
  put(main, h("section", { class: "card wide" }, h("h1", {}, `${file.format} · ${size(file.size)}`), h("p", { class: "quiet" }, "Reading …")));
  const { info, tree, shares } = await get(`${index}/overview`);
  if (signal.aborted) return;
  const whole = h("span", { id: "whole" });
  const state = { alarm: false };
  const judge = () => {
    const [tone, text] = health(info.notes, index);
    whole.className = `badge ${state.alarm && tone === "good" ? "open" : tone}`; // whole is not healthy, where it is dangerous
    put(whole, text);
  };
  judge();
  put(
    main,
    h(
      "section",
      { class: "card wide" },
      h("h1", {}, visible(info.sentence, 600)),
      h("p", { class: "quiet mono" }, visible(info.file, 400), ` · ${size(info.size)}`),
      h("div", { class: "badges" }, verdictPlace(), whole),
      verifier(index, signal, judge),
    ),
    h("div", { class: "columns" }, loads(info), mix(info, shares), sections(info), map(tree), parameters(info), facts(info), notes(info.notes)),
  );
  state.alarm = await safety(main, index, signal);
  if (!signal.aborted) judge();
}

function verdictPlace() {
  return h("span", { class: "badge", id: "verdict" }, "Looking whether it is safe …");
}

function refusal(file, index) {
  return h(
    "section",
    { class: "card bad" },
    h("h1", {}, "inert cannot open this file"),
    h("p", {}, visible(file.refused, 2000)),
    h("p", { class: "quiet mono" }, visible(file.path, 400), ` · ${size(file.size)}`),
    h("div", { class: "badges" }, verdictPlace()),
    h("p", {}, h("a", { href: `#/${index}/file` }, "Its bytes"), " · ", h("a", { href: `#/${index}/safety` }, "What it would run")),
  );
}

// Whether the file is one to be warned of; then nothing about it looks well.
async function safety(main, index, signal) {
  const place = main.querySelector("#verdict");
  try {
    const report = await get(`${index}/scan`);
    if (signal.aborted) return false;
    put(place, h("a", { href: `#/${index}/safety` }, verdict(report)));
    place.classList.add(TONE[report.verdict] || "warn");
    if (!alarming(report)) return false;
    place.closest(".card").classList.add("bad");
    main.querySelector(".badge.good.runs")?.classList.replace("good", "bad");
    return true;
  } catch (error) {
    if (!signal.aborted) put(place, visible(error.message));
    return false;
  }
}

function card(title, ...children) {
  return h("section", { class: "card" }, h("h2", {}, title), children);
}

function loads(info) {
  const rows = LOADS.map(([key, call, hint]) => {
    const said = info.loads[key];
    return h(
      "tr",
      {},
      h("td", {}, h("span", { class: `badge ${said.ok ? "good" : "bad"} ${key === "full" ? "runs" : ""}` }, said.ok ? "yes" : "no")),
      h("td", {}, h("code", {}, call), hint && h("div", { class: "quiet" }, hint), h("div", {}, visible(said.why, 600))),
    );
  });
  return card("Would torch load it?", h("table", { class: "plain" }, h("tbody", {}, rows)), info.read_by && h("p", {}, visible(info.read_by)));
}

export function bar(parts) {
  const total = parts.reduce((sum, part) => sum + part.nbytes, 0) || 1;
  return [
    h(
      "div",
      { class: "bar", "aria-hidden": "true" },
      parts.map((part, i) => h("span", { "--part": `${(100 * part.nbytes) / total}%`, "--hue": `var(--c${i % 8})` })),
    ),
    h(
      "ul",
      { class: "legend" },
      parts.map((part, i) => h("li", {}, h("i", { "--hue": `var(--c${i % 8})`, "aria-hidden": "true" }), visible(part.name, 60), h("span", { class: "quiet" }, ` ${size(part.nbytes)}, ${((100 * part.nbytes) / total).toFixed(1)} %`))),
    ),
  ];
}

function mix(info, shares) {
  const uses = Object.entries(shares).filter(([, nbytes]) => nbytes > 0);
  return card(
    "What the bytes are",
    h("p", {}, `${many(info.count, "tensor")}, ${size(info.nbytes)}, in ${many(info.storages, "storage")} of ${size(info.storage_nbytes)}`),
    info.dtypes.length > 0 && bar(info.dtypes.map((one) => ({ name: one.dtype, nbytes: one.nbytes }))),
    uses.length > 1 && [h("h2", { class: "again" }, "By use"), bar(uses.map(([name, nbytes]) => ({ name, nbytes })))],
  );
}

function sections(info) {
  const filled = info.sections.filter((section) => section.tensors);
  const empty = info.sections.filter((section) => !section.tensors);
  const rows = filled.slice(0, 40).map((section) => h("tr", {}, h("td", { class: "mono" }, called(section.key, 80)), h("td", { class: "number" }, count(section.tensors)), h("td", { class: "number" }, size(section.nbytes))));
  return card(
    "Sections",
    h("table", { class: "plain" }, h("thead", {}, h("tr", {}, h("th", {}, "key"), h("th", { class: "number" }, "tensors"), h("th", { class: "number" }, "bytes"))), h("tbody", {}, rows)),
    info.nbytes !== filled.reduce((sum, section) => sum + section.nbytes, 0) && h("p", { class: "quiet" }, "What their storages hold: one that several tensors share counts once."),
    filled.length > 40 && h("p", { class: "quiet" }, `and ${many(filled.length - 40, "more section")}`),
    empty.length > 0 && h("p", { class: "quiet" }, "Without tensors: ", empty.slice(0, 40).map((section) => called(section.key, 60)).join(", "), empty.length > 40 && " …"),
  );
}

function map(tree) {
  return tree.nbytes > 0 && h("section", { class: "card wide" }, h("h2", {}, "Where the bytes are"), treemap(tree));
}

function parameters(info) {
  return info.hyper_parameters && card("Hyper-parameters", facts_of(info.hyper_parameters));
}

function facts(info) {
  const said = { format: info.format, profile: info.profile, "byte order": info.byteorder, compression: info.compression, ...info.facts };
  return [card("Facts", facts_of(said)), Object.keys(info.metadata).length > 0 && card("What the container says", facts_of(info.metadata))];
}

export function facts_of(found) {
  return h(
    "dl",
    { class: "facts" },
    Object.entries(found).slice(0, 200).map(([name, value]) => [h("dt", {}, visible(spoken(name), 60)), h("dd", {}, written(value, 0, name))]),
  );
}

const FEW = 3;
const SPOKEN = { nbytes: "size", written_by: "written by" }; // keys of a report's own that are no words; those of the file stay as they are

function spoken(name) {
  return SPOKEN[name] || name;
}

// A value of a report under a name: short ones in line, containers as something to open.
function written(value, depth = 0, name = "") {
  if (typeof value === "number") return name === "nbytes" ? size(value) : figure(value);
  if (value === null) return h("span", { class: "quiet" }, "none");
  if (typeof value !== "object") return visible(value, 400);
  const items = Object.entries(value);
  const plain = items.every(([, one]) => typeof one !== "object" || one === null);
  if (!items.length) return h("span", { class: "quiet" }, "empty");
  if (plain && Array.isArray(value) && items.length <= 8) return value.map((one) => visible(one, 400)).join(", ");
  if (plain && items.length <= FEW) return items.map(([key, one]) => `${visible(spoken(key), 60)} ${key === "nbytes" ? size(one) : visible(one, 400)}`).join(", ");
  if (depth > 6) return visible(JSON.stringify(value), 600);
  const named = !Array.isArray(value) && items.slice(0, FEW).every(([key]) => key.length <= 24);
  const title = !named ? many(items.length, "item") : items.slice(0, FEW).map(([key]) => visible(spoken(key), 30)).join(", ") + (items.length > FEW ? " …" : "");
  return h("details", {}, h("summary", {}, title), h("dl", { class: "facts inner" }, items.slice(0, 200).map(([key, one]) => [h("dt", {}, visible(spoken(key), 60)), h("dd", {}, written(one, depth + 1, key))])));
}
