// Tables that a reader can sort: by a click on a head, the other way round by one more; a third brings the first order
// back.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const NUMBER = /^[^\d−+-]*([−+-]?[\d,]*\.?\d+(?:e[−+-]?\d+)?)/i;

  // What a cell is sorted by: the number given with it, the number in it, else its words. Null stands last.
  function keyOf(cell, isFigure) {
    if (cell === undefined) return null;
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.trim();
    if (!isFigure) return text === "" ? null : text;
    const found = NUMBER.exec(text);
    return found === null ? null : Number(found[1].replaceAll(",", "").replaceAll("−", "-"));
  }

  function compared(one, other, sign) {
    if (one === null || other === null) return (one === null) - (other === null);
    if (typeof one === "string") return sign * one.localeCompare(other, "en", { numeric: true, sensitivity: "base" });
    return sign * (one - other);
  }

  // Words begin at A, figures with the largest.
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
        const rows = order === "none" ? first : first.toSorted((a, b) => compared(keys.get(a), keys.get(b), sign));
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
