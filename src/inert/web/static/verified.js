// Whether the bytes are what was written: the button, how far it is, what was found. Knows: that it is known from then on, on every page.

import { h, put, size, visible } from "./dom.js";
import { isExported, stream } from "./data.js";
import { list, tally } from "./notes.js";

const held = new Map(); // by the file's index, for as long as this page is open

export function known(index) {
  return held.get(index);
}

// [tone, words] on what is known of the file's health; `notes` is what reading it met. Not good before the checksums were looked at.
export function health(notes, index) {
  const found = held.get(index);
  if (found && !found.ok) return ["bad", `Damaged: ${tally(found.findings)} when it was verified`];
  if (notes.some((one) => one.severity === "error")) return ["bad", `Damaged: ${tally(notes)}`];
  if (found) return vouched(found);
  const tone = notes.some((one) => one.severity === "warning") ? "warn" : "open";
  return [tone, `${notes.length ? `${tally(notes)} while reading` : "Nothing odd met while reading"}; checksums ${isExported() ? "were not verified" : "not verified yet"}`];
}

function vouched(found) {
  const warned = found.findings.some((one) => one.severity === "warning");
  if (warned) return ["warn", `Verified: ${tally(found.findings)}`];
  return found.unchecked.some((row) => !row.harmless && row.size) ? ["open", "Verified: no error, but nothing vouches for part of it"] : ["good", "Verified: every checksum fits"];
}

// What verification found wrong: the names of tensors and of records.
export function damaged(index) {
  const errors = (held.get(index)?.findings || []).filter((one) => one.severity === "error");
  return { tensors: new Set(errors.flatMap((one) => one.tensors)), parts: new Set(errors.map((one) => one.where.part)), offsets: errors.map((one) => one.where.offset).filter((offset) => offset !== null) };
}

// The way to verify, or what it found; `then` is called once it is known. An exported page has nothing to verify.
export function verifier(index, signal, then) {
  if (isExported()) return null;
  const place = h("div", { class: "again verifier" });
  const start = h("button", { type: "button", onclick: run }, "Verify every checksum");
  put(place, held.has(index) ? outcome(held.get(index)) : start);
  return place;

  async function run() {
    const bar = h("progress", { "aria-label": "Verifying", max: 1, value: 0 });
    put(place, bar);
    try {
      held.set(index, await stream(`${index}/verify`, {}, (step) => bar.setAttribute("value", step.total ? Math.min(1, step.done / step.total) : 0), signal));
    } catch (error) {
      if (!signal.aborted) put(place, start, h("p", {}, visible(error.message, 500)));
      return;
    }
    put(place, outcome(held.get(index)));
    then();
  }
}

function outcome(found) {
  return [
    h("p", {}, h("span", { class: `badge ${found.ok ? "good" : "bad"}` }, found.ok ? "sound" : "damaged"), " ", visible(found.sentence, 800)),
    found.findings.length > 0 && list(found.findings),
    found.unchecked.length > 0 && unverified(found.unchecked),
  ];
}

function unverified(rows) {
  return h("details", {}, h("summary", {}, "What nothing vouches for"), h("ul", { class: "notes" }, rows.slice(0, 50).map((row) => h("li", {}, h("span", { class: "mono" }, visible(row.part || row.file, 120)), `, ${size(row.size)}: `, visible(row.why, 300)))));
}
