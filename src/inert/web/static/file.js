// The file's bytes: records, what lies between them, damage. Decodes no pickle. Knows: what each sort of record is drawn as.

import { count, h, many, put, size, visible } from "./dom.js";
import { get, isExported } from "./data.js";
import { facts_of } from "./overview.js";
import { notes } from "./notes.js";
import { damaged, verifier } from "./verified.js";
import { hex, opcodes } from "./hex.js";
import { ruler } from "./ruler.js";
import { table } from "./table.js";

const TONES = { pickle: "c1", storage: "c0", data: "c0", header: "c7", descriptor: "c5", padding: "line", directory: "c2", "end records": "c6", code: "c3", index: "c2", block: "c2" };
const WRONG = new Set(["unused bytes", "trailing bytes", "prefix"]);
const PICKLES = new Set(["pickle", "constants", "object"]);

export async function filePage(main, { index, rest, signal }) {
  const found = await get(`${index}/parts`);
  if (signal.aborted) return;
  let rows = recordsOf(found, index);
  const detail = h("div", {});
  const state = { file: 0, words: "" };
  const strips = h("div", {});
  const grid = table({ columns: columns(found), label: "Records", onOpen: (row) => open(row), onSort: () => {}, sort_of: "records" });
  const search = h("input", { type: "search", placeholder: "Search records   ( / )", "aria-label": "Search records", oninput: (event) => ((state.words = event.target.value.toLowerCase()), list()) });
  let strip;

  function list() {
    grid.show(rows.filter((row) => row.file === state.file && (!state.words || row.name.toLowerCase().includes(state.words) || row.role.includes(state.words))));
  }

  function choose(file) {
    state.file = file;
    const runs = rows.filter((row) => row.file === file && row.offset !== null);
    const noted = found.notes.filter((one) => one.where && one.where.offset !== null && one.severity === "error").map((one) => one.where.offset);
    const marks = [...noted, ...damaged(index).offsets];
    strip = ruler({ runs, total: found.files[file] ? found.files[file].size : 0, marks, onPick: (run) => open(run, true), label: "Records by their bytes" });
    put(strips, strip.element, legend(runs));
    list();
  }

  function verified() {
    rows = recordsOf(found, index);
    choose(state.file);
  }

  function open(row, fromStrip) {
    if (!fromStrip) strip.show(row);
    put(detail, record(index, row, found));
  }

  put(
    main,
    h("section", { class: "card wide" }, h("h1", {}, "The file"), summary(found), found.refused && h("p", { class: "bad" }, visible(found.refused, 1500)), found.files.length > 1 && picker(found.files, choose), strips, verifier(index, signal, verified)),
    detail,
    h("div", { class: "tall" }, h("div", { class: "tools" }, search), grid.element),
    notes(found.notes),
  );
  choose(0);
  addEventListener("inert-theme", () => strip.draw(), { signal });
  const wanted = rest.join("/");
  const row = (wanted && rows.find((one) => one.record && one.name === wanted)) || rows.find((one) => PICKLES.has(one.role)) || rows[0];
  if (row) {
    if (row.file !== state.file) choose(row.file);
    open(row);
  }
}

// Records and what lies between them, in the order of files and offsets; what verification found damaged as such.
function recordsOf(found, index) {
  const wrong = damaged(index).parts;
  const files = new Map(found.files.map((file, i) => [file.name, i]));
  const parts = found.parts.map((part) => ({ ...part, file: files.get(part.file) ?? 0, length: part.compressed ?? part.size, tone: wrong.has(part.name) ? "bad" : TONES[part.role] || "c4", damaged: wrong.has(part.name), record: true }));
  const gaps = found.gaps.map((gap) => ({ name: gap.record, offset: gap.offset, size: gap.size, length: gap.size, role: gap.kind, file: files.get(found.file) ?? 0, tone: WRONG.has(gap.kind) ? "bad" : TONES[gap.kind] || "c7" }));
  return [...parts, ...gaps].map((row) => ({ ...row, size: row.length, whole: row.size })).sort((a, b) => a.file - b.file || (a.offset ?? -1) - (b.offset ?? -1));
}

function summary(found) {
  const aligned = found.alignment > 1 ? ` Storages begin at multiples of ${count(found.alignment)} bytes${found.alignment_found && found.alignment_found < found.alignment ? `, not all: some only at multiples of ${count(found.alignment_found)}` : ""}.` : "";
  return h("p", { class: "quiet" }, `${many(found.parts.length, "record")}, ${size(found.size)}, in ${many(found.files.length, "file")}.${aligned} No pickle is decoded to show this.`);
}

function picker(files, choose) {
  return h("p", {}, h("select", { "aria-label": "File", onchange: (event) => choose(Number(event.target.value)) }, files.map((file, i) => h("option", { value: i }, `${visible(file.name, 80)}, ${size(file.size)}`))));
}

function legend(runs) {
  const sums = new Map();
  for (const run of runs) sums.set(run.role, { tone: run.tone, bytes: (sums.get(run.role)?.bytes || 0) + run.size });
  const sorted = [...sums].sort((a, b) => b[1].bytes - a[1].bytes).slice(0, 12);
  return h("ul", { class: "legend" }, sorted.map(([role, { tone, bytes }]) => h("li", {}, h("i", { "--hue": `var(--${tone})`, "aria-hidden": "true" }), role, h("span", { class: "quiet" }, ` ${size(bytes)}`))));
}

function columns(found) {
  return [
    { key: "name", title: "record", class: "name mono", cell: (row) => [h("i", { class: "dot", "--hue": `var(--${row.tone})`, "aria-hidden": "true" }), row.record ? [row.hidden && [h("span", { class: "badge bad" }, "hidden"), " "], row.damaged && [h("span", { class: "badge bad" }, "damaged"), " "], visible(row.name, 200)] : h("span", { class: "quiet" }, row.name ? `${row.role} of ${visible(row.name, 120)}` : row.role)] },
    { key: "role", title: "role", class: "less", cell: (row) => row.role },
    { key: "offset", title: "offset", class: "number", cell: (row) => (row.offset === null ? "–" : count(row.offset)) },
    { key: "size", title: "size", class: "number", cell: (row) => count(row.size) },
    { key: "alignment", title: "aligned", class: "number less", cell: (row) => (row.alignment ? count(row.alignment) : "") },
    { key: "crc32", title: "CRC-32", class: "mono less", cell: (row) => (typeof row.crc32 === "number" ? row.crc32.toString(16).padStart(8, "0") : "") },
  ].filter((column) => column.key !== "crc32" || found.parts.some((part) => typeof part.crc32 === "number"));
}

// -- one record

function record(index, row, found) {
  const packed = row.record && typeof row.compressed === "number" && row.compressed !== row.whole;
  const said = {
    role: row.role,
    file: found.files.length > 1 ? found.files[row.file].name : undefined,
    "offset in file": row.offset ?? undefined,
    size: `${count(row.size)} bytes${packed ? " (compressed)" : ""}`,
    alignment: row.alignment || undefined,
    "CRC-32": typeof row.crc32 === "number" ? row.crc32.toString(16).padStart(8, "0") : undefined,
    hidden: row.hidden ? "a later record of the same name takes its place" : undefined,
  };
  const kept = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  const views = h("div", {});
  const coded = row.record && PICKLES.has(row.role);
  const ways = { Opcodes: () => opcodes(index, row.name), Bytes: () => octets(index, row) };
  const buttons = Object.keys(ways).map((name) => h("button", { type: "button", onclick: () => show(name) }, name));
  const show = (name) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.textContent === name));
    put(views, ways[name]());
  };
  show(coded ? "Opcodes" : "Bytes");
  return h(
    "section",
    { class: "card", "aria-label": "The chosen record" },
    h("h2", { class: "mono" }, row.record ? visible(row.name, 300) : `${row.role}${row.name ? ` of ${visible(row.name, 200)}` : ""}`),
    facts_of(kept),
    coded && !isExported() && h("div", { class: "tools again" }, buttons),
    h("div", { class: "again" }, views),
  );
}

function octets(index, row) {
  if (isExported()) return h("p", { class: "quiet" }, "This is an exported page: open the file with inert view to see the bytes.");
  return row.offset === null ? h("p", { class: "quiet" }, "Its bytes do not lie plainly in a file.") : hex(index, row.file, row.offset, row.offset + row.size);
}
