/* The preview of a type: what a new answer says about a parameter is said of its box too. */
"use strict";

(() => {
  const form = document.querySelector("form[hx-target='#preview']");
  if (!form) return;
  document.addEventListener("htmx:afterSettle", () => {
    for (const box of form.querySelectorAll("[aria-describedby]")) {
      const message = document.getElementById(box.getAttribute("aria-describedby"));
      if (message && message.textContent.trim()) box.setAttribute("aria-invalid", "true");
      else box.removeAttribute("aria-invalid");
    }
  });
})();
