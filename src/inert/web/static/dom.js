// Elements, and how texts and numbers are written. Knows: nothing of checkpoints. No markup is ever made of text: trusted types forbid it.

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

// A file's own text as it may be shown: what has no shape, or would turn the line around, as its number; cut where it is long.
export function visible(text, limit = 300) {
  const whole = String(text);
  const cut = whole.length > limit ? `${whole.slice(0, limit)}… (${count(whole.length)} characters)` : whole;
  return cut.replace(HIDDEN, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// h("button", {class: "plain", onclick: f}, "text", node, [nodes]) → an element. Properties that begin with "on" are listeners.
export function h(tag, props, ...children) {
  const made = document.createElement(tag);
  return fill(dress(made, props), children);
}

export function svg(tag, props, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return fill(dress(made, props), children);
}

function dress(made, props) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) made.style.setProperty(name, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  return made;
}

export function fill(made, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    made.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return made;
}

export function put(place, ...children) {
  place.replaceChildren();
  return fill(place, children);
}

// With commas. Integers that a float64 cannot hold come as texts.
export function count(number) {
  return (typeof number === "string" ? BigInt(number) : Number(number)).toLocaleString("en-US");
}

const UNITS = ["kB", "MB", "GB", "TB", "PB", "EB"];

// As words.size() writes it: three digits, no zeros behind them, and never 1000 of a unit that has a larger one.
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  let value = Number(bytes) / 1000;
  let unit = 0;
  for (; value >= 999.5 && unit < UNITS.length - 1; unit += 1) value /= 1000;
  return `${value < 999.5 ? Number(value.toPrecision(3)) : count(Math.round(value))} ${UNITS[unit]}`;
}

export function many(number, word) {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

export function shape(sizes) {
  return `[${sizes.join(",")}]`;
}

export function figure(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return /^-?\d{1,400}$/.test(value) ? count(value) : String(value);
  if (Number.isSafeInteger(value)) return count(value);
  return String(Number(value.toPrecision(7)));
}

let silence;

// Said to everybody: on the page for a while, and to screen readers.
export function say(text) {
  const place = document.getElementById("say");
  place.textContent = text;
  place.classList.add("shown");
  clearTimeout(silence);
  silence = setTimeout(() => place.classList.remove("shown"), 2500);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied");
  } catch {
    say("The browser does not let this page copy");
  }
}
