// What loading the file as a pickle would run. Knows: how verdicts look. Refuses to know: how they are found.

import { count, h, many, put, visible } from "./dom.js";
import { get } from "./data.js";
import { list, tally } from "./notes.js";
import { TONE, alarming, pickleless, verdict } from "./verdicts.js";

const ORDER = ["dangerous", "unreadable", "unknown", "clean"];
const SHOWN = 500;

export async function safetyPage(main, { file, index, signal }) {
  const report = await get(`${index}/scan`);
  if (signal.aborted) return;
  const names = [...report.globals].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  put(main, head(report), names.length > 0 && asked(names, index), report.findings.length > 0 && found(report.findings), loads(report), !file.refused && whole(index));
}

function head(report) {
  return h(
    "section",
    { class: alarming(report) ? "card bad wide" : "card wide" },
    h("h1", {}, h("span", { class: `badge ${TONE[report.verdict] || "warn"}` }, report.verdict), " ", verdict(report)),
    h("p", {}, visible(report.summary, 1000)),
    h("p", { class: "quiet" }, "inert runs none of it, whatever it is: it only reads which names the file asks for, and judges each by a table."),
  );
}

function asked(names, index) {
  const tally = ORDER.map((verdict) => [verdict, names.filter((one) => one.verdict === verdict).length]).filter(([, number]) => number);
  const head = ["verdict", "name", "imported", "called", "where"].map((title, i) => h("th", { scope: "col", class: (i === 2 || i === 3) && "number" }, title));
  return h(
    "section",
    { class: "card wide" },
    h("h2", {}, `${many(names.length, "name")} that the file asks for`),
    h("div", { class: "badges" }, tally.map(([verdict, number]) => h("span", { class: `badge ${TONE[verdict]}` }, `${count(number)} ${verdict}`))),
    h("div", { class: "scrollx again", tabindex: "0", role: "region", "aria-label": "Names" }, h("table", { class: "plain names restack" }, h("thead", {}, h("tr", {}, head)), h("tbody", {}, names.slice(0, SHOWN).map((one) => row(one, index))))),
    names.length > SHOWN && h("p", { class: "quiet" }, `and ${count(names.length - SHOWN)} more: inert scan --json lists them all`),
  );
}

function row(one, index) {
  const dotted = one.module ? `${one.module}.${one.name}` : one.name;
  return h(
    "tr",
    {},
    h("td", {}, h("span", { class: `badge ${TONE[one.verdict] || "warn"}` }, one.verdict)),
    h("td", {}, h("code", {}, visible(dotted, 300)), h("div", { class: "quiet" }, visible(one.why, 400))),
    h("td", { class: "number", "data-title": "imported" }, count(one.count)),
    h("td", { class: "number", "data-title": "called" }, one.calls ? count(one.calls) : "–"),
    h("td", { class: "mono", "data-title": "where" }, h("div", {}, h("a", { href: `#/${index}/file/${encodeURIComponent(one.where.part)}` }, visible(one.where.part, 80)), one.where.offset === null ? "" : ` at byte ${count(one.where.offset)}`)),
  );
}

function found(findings) {
  return h("section", { class: "card wide" }, h("h2", {}, tally(findings)), list(findings));
}

// Only of the names and opcodes: what torch does with the file as a whole is on the page Overview.
function loads(report) {
  const only = report.weights_only;
  const title = h("h2", {}, "The unpickler of torch.load with weights_only=True");
  if (pickleless(report)) return h("section", { class: "card wide" }, title, h("p", {}, "There is no pickle in it, so there is nothing for it to refuse."));
  return h(
    "section",
    { class: "card wide" },
    title,
    h("p", {}, h("span", { class: `badge ${only.accepts ? "good" : "warn"}` }, only.accepts ? "takes its names" : "refuses it"), " ", visible(only.why, 600)),
    only.blocked.length > 0 && h("p", { class: "mono" }, only.blocked.slice(0, 40).map((name) => visible(name, 200)).join(", "), only.blocked.length > 40 && " …"),
  );
}

function whole(index) {
  return h("p", { class: "quiet again" }, "Whether torch loads the file as a whole: ", h("a", { href: `#/${index}/overview` }, "Overview"));
}
