// Questions to the server, and changes, which need the token.
//
// The token comes behind the # of the address that the command prints. It is kept for this tab and taken out of the
// address at once, so that it is neither copied along with a link nor kept in the history.

const KEPT = "scenthound-token";
const NO_TOKEN =
  "Read-only: opened without its token. To change anything, open the address that scenthound dashboard printed.";
const OLD_TOKEN =
  "Read-only: the dashboard was started anew. To change anything, open its new address, which is on its terminal.";
let isTokenOld = false;

/** What the server says about a question that it cannot answer; `command` is what may help. */
export class Problem extends Error {
  constructor(says, command = null, status = 0) {
    super(says);
    this.command = command;
    this.status = status;
  }
}

/** Keep the token of the address, if it has one. */
export function takeToken() {
  const words = new URLSearchParams(location.hash.slice(1));
  if (!words.has("token")) return;
  sessionStorage.setItem(KEPT, words.get("token"));
  words.delete("token");
  const rest = words.toString();
  history.replaceState(null, "", location.pathname + location.search + (rest ? `#${rest}` : ""));
}

/** Why changes cannot be asked for, as a sentence; null if they can. */
export function whyReadOnly() {
  if (sessionStorage.getItem(KEPT)) return null;
  return isTokenOld ? OLD_TOKEN : NO_TOKEN;
}

/** The address of a question about a crawl. */
export function ofCrawl(id, ...parts) {
  return pageAddress("api", "crawls", id, ...parts);
}

/** The address of a page of the dashboard, such as /crawls/balloons/pages. */
export function pageAddress(...parts) {
  return `/${parts.map(encodeURIComponent).join("/")}`;
}

/** The answer to a question; parameters that are null or empty are left out, a list is told one by one. */
export function ask(path, parameters = {}, signal = undefined) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of [value].flat()) if (one !== null && one !== undefined && one !== "") words.append(name, one);
  }
  const query = words.toString();
  return answer(query ? `${path}?${query}` : path, { signal });
}

/** Ask for a change. When the token is refused, the event `read-only` tells the whole page that it is of no use. */
export function change(path, body = {}) {
  const headers = { "Content-Type": "application/json", "X-Scenthound-Token": sessionStorage.getItem(KEPT) ?? "" };
  return answer(path, { method: "POST", headers, body: JSON.stringify(body) }).catch(refused);
}

// Each dashboard has a token of its own, so one that is refused is of a dashboard that ended.
function refused(problem) {
  if (problem.status !== 403) throw problem;
  isTokenOld = true;
  sessionStorage.removeItem(KEPT);
  document.dispatchEvent(new Event("read-only"));
  throw new Problem("Not done: the dashboard was started anew.", null, problem.status);
}

async function answer(path, options) {
  const response = await fetch(path, options).catch(notReached);
  const value = await response.json().catch(() => null);
  if (response.ok && value !== null) return value;
  const says = value?.says ?? `The dashboard answered with status ${response.status}.`;
  throw new Problem(says, value?.command, response.status);
}

function notReached(error) {
  if (error.name === "AbortError") throw error;
  throw new Problem("The dashboard does not answer. Is it still running?", "scenthound dashboard");
}
