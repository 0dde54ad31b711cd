// Bytes in hexadecimal, and a pickle's opcodes. Knows: how rows are written. Refuses to know: what bytes mean.

import { count, h, put, visible } from "./dom.js";
import { get, isExported } from "./data.js";
import { TONE } from "./verdicts.js";

const PAGE = 512; // bytes at a time
const OPCODES = 400; // opcodes at a time

// The bytes from `start` to `end` of the file number `file`, a page at a time.
export function hex(index, file, start, end) {
  const text = h("pre", { class: "hex", tabindex: "0", "aria-label": "Bytes in hexadecimal" });
  const place = h("div", {}, text);
  const back = h("button", { type: "button", onclick: () => show(at - PAGE) }, "←");
  const on = h("button", { type: "button", onclick: () => show(at + PAGE) }, "→");
  back.setAttribute("aria-label", "Bytes before");
  on.setAttribute("aria-label", "Bytes behind");
  const said = h("span", { class: "quiet" });
  const jump = h("input", { type: "text", inputmode: "numeric", size: "12", "aria-label": "Go to a byte of the file", placeholder: "go to byte", onchange: go });
  let at = start;

  function go() {
    const wanted = Number(jump.value.replaceAll(",", ""));
    if (Number.isFinite(wanted) && jump.value.trim()) show(Math.floor(wanted));
  }

  async function show(to) {
    at = Math.max(start, Math.min(to, Math.max(start, end - 1)));
    const number = Math.min(PAGE, end - at);
    back.disabled = at <= start;
    on.disabled = at + PAGE >= end;
    said.textContent = `bytes ${count(at)} to ${count(at + number)} of ${count(start)} to ${count(end)}`;
    if (number <= 0) {
      put(text, "no bytes");
      return;
    }
    try {
      const found = await get(`${index}/bytes`, { file, offset: at, count: number });
      put(text, lines(Uint8Array.from(atob(found.data), (c) => c.charCodeAt(0)), found.offset));
    } catch (error) {
      put(text, visible(error.message, 300));
    }
  }

  show(start);
  return h("div", {}, h("div", { class: "tools" }, back, on, jump, said), place);
}

function lines(bytes, offset) {
  const made = [];
  const wide = matchMedia("(max-width: 640px)").matches ? 8 : 16;
  for (let at = 0; at < bytes.length; at += wide) {
    const row = [...bytes.subarray(at, at + wide)];
    const digits = row.map((byte, i) => byte.toString(16).padStart(2, "0") + (i === 7 && wide > 8 ? " " : "")).join(" ");
    const letters = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    made.push(`${(offset + at).toString(16).padStart(8, "0")}  ${digits.padEnd(wide * 3 + (wide > 8 ? 1 : 0))} ${letters}`);
  }
  return made.join("\n");
}

// The opcodes of a pickle, a page at a time; names that it asks for have the colour of their verdict.
export function opcodes(index, part) {
  const body = h("tbody", {});
  const more = h("button", { type: "button", onclick: () => load() }, "Show more");
  const said = h("p", { class: "quiet" });
  let next = 0;

  async function load() {
    more.disabled = true;
    try {
      const found = await get(`${index}/pickle`, { part, start: next, count: OPCODES });
      body.append(...found.rows.map(line));
      next += found.rows.length;
      more.hidden = !found.more || isExported();
      said.textContent = isExported() && found.more ? `the first ${count(next)} opcodes: an exported page holds no more` : `${count(next)} opcodes${found.more ? " so far" : ""}, ${count(found.size)} bytes`;
    } catch (error) {
      more.hidden = true;
      put(said, visible(error.message, 400));
    }
    more.disabled = false;
  }

  load();
  const head = ["byte", "opcode", "argument"].map((title) => h("th", { scope: "col" }, title));
  return h("div", {}, h("div", { class: "scrollx opcodes", tabindex: "0", role: "region", "aria-label": "Opcodes" }, h("table", { class: "plain" }, h("thead", {}, h("tr", {}, head)), body)), said, more);
}

function line(row) {
  const name = row.name && h("div", {}, h("span", { class: `badge ${TONE[row.verdict] || "warn"}` }, row.verdict), " ", visible(row.name, 200), row.why && h("span", { class: "quiet" }, ` ${visible(row.why, 200)}`));
  return h("tr", { class: row.op === "?" && "wrong" }, h("td", { class: "number mono" }, count(row.offset)), h("td", { class: "mono" }, row.op), h("td", { class: "mono" }, name || visible(row.text, 160)));
}
