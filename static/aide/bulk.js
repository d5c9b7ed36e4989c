/* Marking rows of a list: all of the page at once, ranges with Shift, and how many there are. Lists work without it. */
"use strict";

(() => {
  const boxes = [...document.querySelectorAll("#result_list .mark")];
  const all = document.getElementById("mark-all");
  const told = document.querySelector("[data-marked]");
  if (!boxes.length || !all) return;
  let last = null;

  const tell = () => {
    const count = boxes.filter((box) => box.checked).length;
    all.checked = count === boxes.length;
    all.indeterminate = count > 0 && count < boxes.length;
    if (told) told.textContent = count ? "(" + count + ")" : "";
  };
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    tell();
  });
  for (const box of boxes) {
    box.addEventListener("click", (event) => {
      if (event.shiftKey && last && last !== box) {
        const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
        for (const between of boxes.slice(from, to + 1)) between.checked = box.checked;
      }
      last = box;
      tell();
    });
  }
  window.addEventListener("pageshow", tell);
  tell();
})();
