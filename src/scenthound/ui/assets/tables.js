// Sortable tables, and details of the cells of a grid of wins and losses.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { element, numberText } = scenthound;
  const NUMBER = /^[^\d−+-]*([−+-]?[\d,]*\.?\d+(?:e[−+-]?\d+)?)/i;

  // The sort key of a cell: its data-value, the number in its text, or its text. Null is last.
  function keyOf(cell, isFigure) {
    if (cell === undefined) return null;
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
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

  const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

  function cellText(grid, row, column) {
    const difference = grid.differences[row][column];
    if (difference === null) return `${grid.rows[row]}: nothing to compare`;
    if (Math.abs(difference) < 1e-12) return `${grid.rows[row]} and ${grid.against}: even`;
    const word = difference > 0 ? "better" : "worse";
    return `${grid.rows[row]}: ${numberText(Math.abs(difference))} ${word} than ${grid.against}`;
  }

  scenthound.readGrid = (figure, grid) => {
    const table = figure.querySelector("table");
    const wide = figure.querySelector(".wide");
    const box = scenthound.floating(figure);
    const speak = scenthound.spoken(figure);
    let read = null;

    function clear() {
      read?.cell.classList.remove("read");
      read = null;
      box.hide();
    }

    function show(row, column) {
      clear();
      const cell = table.tBodies[0].rows[row].cells[column + 1];
      const [outer, inner] = [figure.getBoundingClientRect(), cell.getBoundingClientRect()];
      cell.classList.add("read");
      read = { row, column, cell };
      const content = [element("p", { class: "head" }, grid.topics[column]), element("p", {}, cellText(grid, row, column))];
      box.show(inner.left - outer.left, inner.bottom - outer.top + 8, ...content);
    }

    function pointed(event) {
      const cell = event.target.closest("tbody td");
      const column = cell ? cell.cellIndex - 1 : -1;
      if (column < 0 || column >= grid.topics.length) clear();
      else show(cell.parentNode.sectionRowIndex, column);
    }

    function go(event) {
      const step = STEPS[event.key];
      if (event.key === "Escape") clear();
      if (!step || !grid.rows.length || !grid.topics.length) return;
      event.preventDefault();
      const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
      const row = read ? clamp(read.row + step[0], grid.rows.length) : 0;
      const column = read ? clamp(read.column + step[1], grid.topics.length) : 0;
      const cell = table.tBodies[0].rows[row].cells[column + 1];
      cell.scrollIntoView({ block: "nearest", inline: "nearest" });
      show(row, column);
      speak(`${grid.topics[column]}. ${cellText(grid, row, column)}`);
    }

    table.addEventListener("pointerover", pointed);
    table.addEventListener("pointerdown", pointed);
    table.addEventListener("pointerleave", clear);
    wide.addEventListener("keydown", go);
    wide.addEventListener("blur", clear);
  };
})();
