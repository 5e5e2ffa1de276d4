// Sortable tables.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const NUMBER = /^[^\d−+-]*([−+-]?[\d,]*\.?\d+(?:e[−+-]?\d+)?)/i;

  // The sort key of a cell: the number in its text, or its text. Null is last.
  function keyOf(cell, isFigure) {
    if (cell === undefined) return null;
    const text = cell.textContent.trim();
    if (!isFigure) return text === "" ? null : text;
    const found = NUMBER.exec(text);
    return found === null ? null : Number(found[1].replaceAll(",", "").replaceAll("−", "-"));
  }

  function compare(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === "string") return sign * a.localeCompare(b, "en", { numeric: true, sensitivity: "base" });
    return sign * (a - b);
  }

  // A first click sorts texts ascending and numbers descending, a third restores the original order.
  const nextOrder = (isFigure, order) => {
    const orders = isFigure ? ["descending", "ascending", "none"] : ["ascending", "descending", "none"];
    return orders[(orders.indexOf(order) + 1) % 3];
  };

  scenthound.makeSortable = (table) => {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const first = [...body.rows];
    if (first.length < 2) return;
    heads.forEach((head, column) => {
      const isFigure = head.classList.contains("figure");
      const sort = () => {
        const order = nextOrder(isFigure, head.getAttribute("aria-sort") ?? "none");
        const sign = order === "ascending" ? 1 : -1;
        const keys = new Map(first.map((row) => [row, keyOf(row.cells[column], isFigure)]));
        const rows = order === "none" ? first : first.toSorted((a, b) => compare(keys.get(a), keys.get(b), sign));
        body.append(...rows);
        heads.forEach((each) => each.setAttribute("aria-sort", each === head ? order : "none"));
      };
      const made = scenthound.button("", { class: "sort", title: "Sort by this column" }, sort);
      made.append(...head.childNodes);
      head.append(made);
      head.setAttribute("aria-sort", "none");
    });
  };
})();
