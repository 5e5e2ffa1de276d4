// Elements, made without HTML: whatever a crawled page said goes in as text.
//
// Rules
// - `element` is the one place where attributes are set. A function listens, a string never becomes a listener.
// - A link leads to a page of the dashboard, to a place on this page or to http(s); any other address is left off.
// - Sizes that come from numbers are custom properties (`css`): the policy of the page forbids style attributes.

/** An element with attributes and children, which may be lists of lists; null and false children are left out, all
 * else but nodes is text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(made, name, value);
  made.append(...shown(children));
  return made;
}

/** Put these children in the place of those that are there. */
export function fill(parent, ...children) {
  parent.replaceChildren(...shown(children));
  return parent;
}

/** Let these elements be the children, in this order. Those that are in place already are not taken out, not even for
 * a sample: whoever is on one by keyboard stays there. */
export function arrange(parent, children) {
  const staying = new Set(children);
  for (const child of [...parent.children]) if (!staying.has(child)) child.remove();
  const onIt = parent.contains(document.activeElement) ? document.activeElement : null;
  children.forEach((child, place) => {
    if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null);
  });
  // One that had to move itself.
  if (onIt && onIt !== document.activeElement) onIt.focus({ preventScroll: true });
}

function shown(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

function setAttribute(made, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") made.addEventListener(name, value);
  else if (name === "css") setProperties(made, value);
  else if (name.startsWith("on") || name === "style") throw new Error(`${name} cannot be set from text`);
  else if (name === "href" && !isSafe(String(value))) return;
  else made.setAttribute(name, value === true ? "" : value);
}

function setProperties(made, properties) {
  for (const [name, value] of Object.entries(properties)) made.style.setProperty(name, value);
}

function isSafe(address) {
  return address.startsWith("#") || /^\/(?![/\\])/.test(address) || isWeb(address);
}

function isWeb(address) {
  return /^https?:\/\//i.test(address);
}

/** A text from outside: its direction and its odd characters stay within it. */
export function foreign(text, attributes = {}) {
  return element("bdi", attributes, text);
}

/** A link to a crawled page, opened apart; its address as text where it is not http(s). */
export function outside(url, text = url, attributes = {}) {
  if (!isWeb(url)) return foreign(text, attributes);
  const kept = { href: url, target: "_blank", rel: "noopener noreferrer", title: url, ...attributes };
  return element("a", kept, foreign(text));
}

/** The attributes of a link to a page without a way back to this one. */
export function apart(href) {
  return { href, target: "_blank", rel: "noopener", title: "Opens in a new tab" };
}

/** A button; `attributes` may name further classes. */
export function button(label, click, { class: kind = "", ...attributes } = {}) {
  return element("button", { type: "button", class: `press ${kind}`, click, ...attributes }, label);
}

/** The button that sends a form. */
export function sendButton(label, attributes = {}) {
  return element("button", { type: "submit", class: "press", ...attributes }, label);
}

/** A remark beside figures. */
export function remark(...text) {
  return element("p", { class: "note" }, ...text);
}

/** A bar as long as a share of the whole. */
export function shareBar(share) {
  return element("span", { class: "share", "aria-hidden": "true", css: { "--share": share.toFixed(4) } });
}

/** A part of a page under a head of its own. */
export function section(title, attributes, ...children) {
  const head = element("h2", {}, title);
  return element("section", { class: "part", "aria-label": title, ...attributes }, head, ...children);
}

/** Names and values, as a list of terms. */
export function facts(rows, attributes = {}) {
  const pairs = rows.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  return element("dl", { class: "facts", ...attributes }, pairs);
}

/** A table whose heads are told by `columns`: {head, number, wide}. Rows are lists of cells. */
export function table(caption, columns, rows) {
  const heads = columns.map((column) => element("th", { scope: "col", class: kindOf(column) }, column.head));
  const body = element("tbody", {}, rows.map((row) => tableRow(columns, row)));
  const made = element("table", {}, element("caption", { class: "unseen" }, caption));
  made.append(element("thead", {}, element("tr", {}, heads)), body);
  return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, made);
}

/** A row of such a table. */
export function tableRow(columns, cells) {
  return element("tr", {}, cells.map((cell, place) => element("td", { class: kindOf(columns[place]) }, cell)));
}

function kindOf(column) {
  return column.number ? "number" : column.wide ? "wide" : null;
}
