// The per-topic grid says, for the cell pointed at or reached by arrow keys, the topic and the difference.
(() => {
  "use strict";
  const scenthound = (globalThis.scenthound ??= {});
  const { element, numberText } = scenthound;
  const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

  function told(grid, row, column) {
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
      const words = [element("p", { class: "head" }, grid.topics[column]), element("p", {}, told(grid, row, column))];
      box.show(inner.left - outer.left, inner.bottom - outer.top + 8, ...words);
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
      const held = (value, count) => Math.max(0, Math.min(count - 1, value));
      const row = read ? held(read.row + step[0], grid.rows.length) : 0;
      const column = read ? held(read.column + step[1], grid.topics.length) : 0;
      const cell = table.tBodies[0].rows[row].cells[column + 1];
      cell.scrollIntoView({ block: "nearest", inline: "nearest" });
      show(row, column);
      speak(`${grid.topics[column]}. ${told(grid, row, column)}`);
    }

    table.addEventListener("pointerover", pointed);
    table.addEventListener("pointerdown", pointed);
    table.addEventListener("pointerleave", clear);
    wide.addEventListener("keydown", go);
    wide.addEventListener("blur", clear);
  };
})();
