// Sorting and filtering of the tables. Without it the page is complete, only longer to search.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const key = (row, column) => {
    const cell = row.cells[column];
    const value = cell.dataset.value ?? cell.textContent.trim();
    return value === "" || Number.isNaN(Number(value)) ? value : Number(value);
  };
  const before = (a, b) => {
    if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;  // what is not there comes last
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  };
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort(([a], [b]) => (a === "" || b === "" || !down ? before(a, b) : -before(a, b)));
      body.append(...rows.map(([, row]) => row));
    });
  });
  if (body.rows.length > 5) {
    const caption = table.caption.textContent.trim();
    const bar = document.createElement("div");
    bar.className = "filter";
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("output");
    input.type = "search";
    input.id = table.id + "-filter";
    label.htmlFor = input.id;
    label.textContent = "Show only rows with";
    input.setAttribute("aria-label", "Show only rows with this text: " + caption);
    count.htmlFor = input.id;
    bar.append(label, input, count);
    const show = () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      for (const row of body.rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !wanted.every((word) => text.includes(word));
        left += row.hidden ? 0 : 1;
      }
      count.textContent = `${left} of ${body.rows.length} rows`;
    };
    input.addEventListener("input", show);
    show();
    table.parentElement.before(bar);
  }
}
// On paper everything is open.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  opened.forEach((each) => { each.open = true; });
});
addEventListener("afterprint", () => opened.forEach((each) => { each.open = false; }));
