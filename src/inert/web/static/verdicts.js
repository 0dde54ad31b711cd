// The verdicts of a scan: their words and colours, for every page.

export const TONE = { clean: "good", unknown: "unknown", dangerous: "bad", unreadable: "bad" };
export const VERDICT = {
  clean: "Safe: it only builds data",
  unknown: "Unknown: it names code that nobody has judged",
  dangerous: "Dangerous: loading it as a pickle would run code",
  unreadable: "Unreadable in part: take it for dangerous",
};
