// Titles, units and descriptions of the fields of pages and of the status, as the server defines them.

import { get } from "./api.js";

let columns = { page: [], status: [] };

/** Call once, before anything else. */
export async function loadColumns() {
  columns = await get("/api/columns");
}

/** The fields of a page that are shown in lists. */
export function listedColumns() {
  return columns.page.filter((column) => column.listed);
}

/** A field of the status; without title and help if the server does not know it. */
export function statusColumn(name) {
  return columns.status.find((column) => column.name === name) ?? { name, title: name, help: "" };
}

/** The fields of the status that count hosts, by state. */
export function hostColumns() {
  return columns.status.filter((column) => column.host_state);
}
