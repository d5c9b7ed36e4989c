/* The cast matrix by keyboard: arrows move from cell to cell, Enter opens one in the panel, Escape leads back.
   Without this file every cell is a link to the same page with its panel filled. */
"use strict";

(() => {
  const table = document.querySelector("table[data-casts]");
  if (!table) return;
  const panel = document.getElementById(table.dataset.casts);
  const empty = "<p class=\"muted\" data-empty>Choose a cell to see its rule, examples and why it is judged so.</p>";
  const rows = [...table.tBodies[0].rows];
  let current = null;
  let opener = null;

  const cellsOf = (row) => [...row.querySelectorAll("a[href]")];

  // One stop for the whole table: Tab enters at the cell where one was last.
  function settle(cell) {
    if (current) current.tabIndex = -1;
    current = cell;
    current.tabIndex = 0;
  }
  for (const link of table.querySelectorAll("tbody a[href]")) link.tabIndex = -1;
  const named = new URLSearchParams(location.search);
  const asked = rows.find((row) => row.dataset.type === named.get("source"));
  const first = rows.length ? cellsOf(asked || rows[0])[0] : null;
  if (first) settle(first);

  function moved(cell, key) {
    const row = cell.closest("tr");
    const cells = cellsOf(row);
    const place = cells.indexOf(cell);
    if (key === "ArrowRight") return cells[place + 1];
    if (key === "ArrowLeft") return cells[place - 1];
    if (key === "Home") return cells[0];
    if (key === "End") return cells[cells.length - 1];
    const next = rows[rows.indexOf(row) + (key === "ArrowDown" ? 1 : -1)];
    return next && cellsOf(next)[place];
  }

  async function open(cell) {
    opener = cell;
    const address = new URL(cell.href);
    const shown = address.pathname + address.search;
    address.searchParams.set("panel", "1");
    address.hash = "";
    panel.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(address, { credentials: "same-origin", redirect: "error" });
      if (!answer.ok) throw new Error(String(answer.status));
      panel.innerHTML = await answer.text();
    } catch {
      location.assign(cell.href); // the whole page says what is wrong, or asks to sign in
      return;
    } finally {
      panel.removeAttribute("aria-busy");
    }
    history.replaceState(null, "", shown);
    mark(cell);
    panel.focus({ preventScroll: true });
    if (panel.getBoundingClientRect().top > innerHeight - 80) panel.scrollIntoView({ block: "nearest" });
  }

  function mark(cell) {
    for (const other of table.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
    if (cell) cell.setAttribute("aria-current", "true");
  }

  function close() {
    panel.innerHTML = empty;
    mark(null);
    const back = opener || current;
    opener = null;
    if (back) {
      settle(back);
      back.focus();
    }
  }

  table.addEventListener("focusin", (event) => {
    const cell = event.target.closest("tbody a[href]");
    if (cell) settle(cell);
  });
  table.addEventListener("click", (event) => {
    const cell = event.target.closest("tbody a[href]");
    if (!cell || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    settle(cell);
    open(cell);
  });
  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest("tbody a[href]");
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) return;
    event.preventDefault();
    const next = moved(cell, event.key);
    if (next) {
      settle(next);
      next.focus();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || panel.querySelector("[data-empty]")) return;
    if (panel.contains(event.target) || table.contains(event.target)) close();
  });
})();
