// Titles, units and descriptions of the fields of pages and of the status, as the server defines them.

import { ask } from "./api.js";

let columns = { page: [], status: [] };

/** To be called once, before anything is shown. */
export async function loadColumns() {
  columns = await ask("/api/columns");
}

/** The fields of a page that lists show. */
export function listedColumns() {
  return columns.page.filter((column) => column.listed);
}

/** A field of the status; a bare one if the server does not know it. */
export function statusColumn(name) {
  return columns.status.find((column) => column.name === name) ?? { name, title: name, help: "" };
}

/** The fields of the status that count hosts, by state. */
export function hostColumns() {
  return columns.status.filter((column) => column.host_state);
}
