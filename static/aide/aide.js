/* The desk's small comforts. Every page works without this file. */
"use strict";

(() => {
  const root = document.documentElement;

  function keep(form, name, value) {
    const data = new FormData(form);
    data.set(name, value);
    fetch(form.action, { method: "POST", body: data, redirect: "manual", credentials: "same-origin", keepalive: true });
  }

  // Theme and navigation change at once; the cookie is set by the same form in the background.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[name='theme'], button[name='nav']");
    if (!button || !button.form) return;
    event.preventDefault();
    keep(button.form, button.name, button.value);
    if (button.name === "theme") {
      root.dataset.theme = button.value;
      for (const other of button.form.querySelectorAll("button[name='theme']")) {
        other.setAttribute("aria-pressed", String(other === button));
      }
      const use = button.querySelector("use").getAttribute("href");
      const menu = button.closest("details");
      menu.querySelector("summary use").setAttribute("href", use);
      menu.open = false;
      menu.querySelector("summary").focus();
    } else {
      const collapsed = button.value === "collapsed";
      root.classList.toggle("nav-collapsed", collapsed);
      button.value = collapsed ? "open" : "collapsed";
      const words = (collapsed ? "Show" : "Hide") + " the navigation";
      button.title = words;
      button.querySelector(".visually-hidden").textContent = words;
    }
  });

  // Menus and filters: one open at a time, closed by Escape and by a click elsewhere.
  const menus = "details.menu, details.filter";
  document.addEventListener("click", (event) => {
    for (const open of document.querySelectorAll("details.menu[open], details.filter[open]")) {
      if (!open.contains(event.target)) open.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const open = event.target.closest && event.target.closest(menus);
      if (open && open.open) {
        open.open = false;
        open.querySelector("summary").focus();
      }
    }
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      const box = document.querySelector("[data-search]");
      if (box) {
        event.preventDefault();
        box.focus();
        box.select();
      }
    }
  });
  document.addEventListener("focusout", (event) => {
    const open = event.target.closest && event.target.closest(menus);
    if (open && event.relatedTarget && !open.contains(event.relatedTarget)) open.open = false;
  });

  // <button data-dialog="id"> opens a dialog; [data-close] closes it; focus returns to the opener by itself.
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener) {
      const dialog = document.getElementById(opener.dataset.dialog);
      if (dialog && dialog.showModal) {
        event.preventDefault();
        dialog.showModal();
      }
    }
    if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
    const copier = event.target.closest("[data-copy]");
    if (copier && navigator.clipboard) {
      const source = document.getElementById(copier.dataset.copy);
      navigator.clipboard.writeText((source ? source.textContent : copier.dataset.copy).trim()).then(() => {
        const label = copier.querySelector("span") || copier;
        const before = label.textContent;
        label.textContent = "Copied";
        setTimeout(() => { label.textContent = before; }, 1500);
      });
    }
  });

  // A select that navigates by itself keeps its button for those without this script.
  for (const form of document.querySelectorAll("form[data-auto]")) {
    form.addEventListener("change", () => form.requestSubmit());
    for (const button of form.querySelectorAll("[data-auto-button]")) button.hidden = true;
  }

  // A table of fields that filters as one types.
  for (const box of document.querySelectorAll("input[data-rows]")) {
    const rows = document.querySelectorAll("#" + box.dataset.rows + " tbody tr");
    const only = document.querySelectorAll("input[data-only='" + box.dataset.rows + "']");
    const status = document.getElementById(box.dataset.rows + "-count");
    const apply = () => {
      const text = box.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        let fits = !text || (row.dataset.text || row.textContent).toLowerCase().includes(text);
        for (const check of only) if (check.checked && !row.matches(check.value)) fits = false;
        row.hidden = !fits;
        if (fits) shown += 1;
      }
      if (status) status.textContent = shown === rows.length ? "" : shown + " of " + rows.length + " shown";
    };
    box.addEventListener("input", apply);
    for (const check of only) check.addEventListener("change", apply);
  }
})();
