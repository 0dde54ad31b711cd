// Where answers come from: the server, or the data that lies in an exported page. Knows: addresses. Refuses to know: what answers mean.

const held = document.getElementById("inert-data");
const exported = held ? JSON.parse(held.textContent) : null;
const answers = new Map();

export class Refusal extends Error {
  constructor(answer) {
    super(answer.error || "there is no answer");
    this.code = answer.code || "";
    this.exported = Boolean(answer.exported);
  }
}

export function isExported() {
  return exported !== null;
}

// Whether an exported page holds the answer.
export function has(path, params) {
  return exported !== null && address(path, params) in exported;
}

export function address(path, params) {
  const words = new URLSearchParams(Object.entries(params || {}).filter(([, value]) => value !== undefined));
  return words.size ? `api/${path}?${words}` : `api/${path}`;
}

// The answer to a question; asked once.
export function get(path, params) {
  const where = address(path, params);
  if (!answers.has(where)) {
    const asked = ask(where);
    answers.set(where, asked);
    asked.catch(() => answers.delete(where));
    if (answers.size > 300) answers.delete(answers.keys().next().value);
  }
  return answers.get(where);
}

async function ask(where) {
  if (exported) {
    const found = exported[where];
    if (found && found.error) throw new Refusal(found);
    if (found) return found;
    throw new Refusal({ error: "This is an exported page: open the file with inert view to see this", exported: true });
  }
  let answer;
  try {
    answer = await fetch(where);
  } catch {
    throw new Refusal({ error: "The server does not answer any more: start inert view again" });
  }
  const found = await answer.json().catch(() => ({ error: `The server answered ${answer.status}` }));
  if (!answer.ok) throw new Refusal(found);
  return found;
}

// A long answer: onStep is told of each step; the last step is what the promise gives.
export async function stream(path, params, onStep, signal) {
  const where = address(path, params);
  if (exported) return ask(where);
  const answer = await fetch(where, { signal });
  if (!answer.ok) throw new Refusal(await answer.json().catch(() => ({})));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let last = null;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      last = JSON.parse(line);
      if (last.error) throw new Refusal(last);
      if ("done" in last && "total" in last) onStep(last);
    }
  }
  return last;
}
