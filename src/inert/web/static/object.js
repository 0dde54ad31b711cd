// To come.

import { h, put } from "./dom.js";

export async function objectPage(main) {
  put(main, h("p", {}, "This page is not there yet."));
}
