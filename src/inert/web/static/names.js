// What things are called where the file gives them no name of their own, or the same one twice.

import { visible } from "./dom.js";

// A tensor, module or section by its name; the one that has none is what was saved.
export function called(name, limit = 200) {
  return name === "" ? "(the saved object itself)" : visible(name, limit);
}

// A file by its name, with as much of its folder before it as tells it from the others.
export function label(files, file, limit = 60) {
  const steps = (one) => one.path.split(/[/\\]/).filter(Boolean);
  const others = files.filter((other) => other !== file && other.name === file.name);
  const own = steps(file);
  for (let kept = 2; others.length && kept <= own.length; kept += 1) {
    const said = own.slice(-kept).join("/");
    if (others.every((other) => steps(other).slice(-kept).join("/") !== said)) return visible(said, limit);
  }
  return others.length ? `${visible(file.name, limit)} (${file.index + 1})` : visible(file.name, limit);
}
