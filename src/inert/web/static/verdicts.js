// The verdicts of a scan: their words and colours, for every page.

export const TONE = { clean: "good", unknown: "unknown", dangerous: "bad", unreadable: "bad" };
const VERDICT = {
  clean: "Safe: it only builds data",
  unknown: "Unknown: it names code that nobody has judged",
  dangerous: "Dangerous: loading it as a pickle would run code",
  unreadable: "Unreadable in part: take it for dangerous",
};

// Whether the scan met no pickle in any of the files.
export function pickleless(report) {
  const none = (one) => one.findings.some((finding) => finding.code === "scan-nothing");
  return report.verdict === "clean" && !report.globals.length && (report.files ? report.files.every(none) : none(report));
}

export function verdict(report) {
  return pickleless(report) ? "No pickle in it: there is nothing that pickle.load or torch.load would run" : VERDICT[report.verdict] || report.verdict;
}

export function alarming(report) {
  return report.verdict === "dangerous" || report.verdict === "unreadable";
}
