"use strict";
document.documentElement.classList.add("has-js");

// Sorting: the table is sorted by time as it comes.
const table = document.getElementById("table"), body = table.tBodies[0];
for (const head of table.tHead.rows[0].cells) {
  const key = head.dataset.sort;
  const label = head.textContent;
  const by = key ? row => +row.dataset[key] : row => row.cells[head.cellIndex].textContent.toLowerCase();
  const button = document.createElement("button");
  button.textContent = label;
  head.textContent = "";
  head.append(button);
  button.addEventListener("click", () => {
    const falls = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") !== "descending" : Boolean(key);
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [by(a), by(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (falls ? -1 : 1);
    });
    body.append(...rows);
  });
}

const filter = document.createElement("input");
filter.id = "filter";
filter.type = "search";
filter.placeholder = "functions whose name or file has …";
filter.setAttribute("aria-label", "Filter functions");
table.parentElement.before(filter);
filter.addEventListener("input", () => {
  const text = filter.value.toLowerCase();
  for (const row of body.rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(text);
});

// Zooming: the frame that was tapped becomes as wide as the graph.
const flame = document.getElementById("flame");
if (flame) {
  flame.classList.add("zooms");
  const whole = flame.viewBox.baseVal.width;
  const frames = [...flame.querySelectorAll("g")];
  const show = (from, wide) => {
    for (const frame of frames) {
      const x = +frame.dataset.x, w = +frame.dataset.w;
      const left = Math.max((x - from) / wide * whole, 0), right = Math.min((x + w - from) / wide * whole, whole);
      const width = right - left;
      frame.style.display = width < 0.6 ? "none" : "";
      const rect = frame.querySelector("rect");
      rect.setAttribute("x", left);
      rect.setAttribute("width", Math.max(width - 0.5, 0.4));
      let text = frame.querySelector("text");
      const letters = Math.floor((width - 6) / 6.6), name = frame.dataset.n;
      if (!text && letters > 3) {
        text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        text.setAttribute("y", +rect.getAttribute("y") + 12.5);
        frame.append(text);
      }
      if (text) {
        text.setAttribute("x", left + 3);
        text.textContent = name.length <= letters ? name : letters > 3 ? name.slice(0, letters - 1) + "…" : "";
      }
    }
  };
  flame.addEventListener("click", event => {
    const frame = event.target.closest("g");
    if (frame) show(+frame.dataset.x, +frame.dataset.w);
  });
}

// A link to a function opens its source.
const open = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
};
addEventListener("hashchange", open);
open();
