// Findings: one in a list, several as a card, and how many there are. Knows: one way of counting, the same on every page.

import { count, h, many, visible } from "./dom.js";
import { called } from "./names.js";

const WORDS = { error: "error", warning: "warning", info: "note" };
const SHOWN = 100;

// "6 errors, 1 warning": the numbers add up to that of the findings.
export function tally(found) {
  const counts = Object.entries(WORDS).map(([severity, word]) => [found.filter((one) => one.severity === severity).length, word]);
  return counts.filter(([number]) => number).map(([number, word]) => many(number, word)).join(", ");
}

export function notes(found) {
  return found.length > 0 && h("section", { class: "card wide" }, h("h2", {}, `Noted while reading: ${tally(found)}`), list(found));
}

export function list(found) {
  return [h("ul", { class: "notes" }, found.slice(0, SHOWN).map(note)), found.length > SHOWN && h("p", { class: "quiet" }, `and ${count(found.length - SHOWN)} more`)];
}

export function note(one) {
  const place = one.where && one.where.part ? visible(one.where.part, 120) + (one.where.offset === null ? "" : ` at byte ${count(one.where.offset)}`) : "";
  return h(
    "li",
    { class: one.severity },
    h("strong", {}, one.severity === "info" ? "note" : one.severity),
    place && [" · ", h("span", { class: "mono" }, place)],
    h("div", {}, visible(one.message, 800)),
    one.tensors.length > 0 && h("div", { class: "quiet mono" }, one.tensors.slice(0, 5).map((name) => called(name, 80)).join(", "), one.tensors.length > 5 && ` and ${count(one.tensors.length - 5)} more`),
    h("div", { class: "quiet" }, visible(one.fix, 400)),
  );
}
