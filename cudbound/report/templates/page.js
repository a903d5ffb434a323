// Columns that sort: a click on a heading, again for the other way.
for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead th").forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const way = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      const sign = way === "ascending" ? 1 : -1;
      const value = (row) => row.cells[column].textContent.trim();
      const number = (text) => parseFloat(text.replace(/^[<>]/, ""));
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        const [m, n] = [number(x), number(y)];
        return sign * (Number.isNaN(m) || Number.isNaN(n) ? x.localeCompare(y) : m - n);
      });
      table.querySelectorAll("thead th").forEach((one) => one.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", way);
      table.tBodies[0].append(...rows);
    });
  });
}
// The contents are open beside the page, and closed above it on a narrow screen.
const contents = document.querySelector("nav details");
if (contents && matchMedia("(max-width: 52rem)").matches) contents.open = false;
