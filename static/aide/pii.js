/* The PII workbench: decisions without a reload, and keys while a row or a group has the focus.
   It needs saving.js. The page works without both. */
"use strict";

(() => {
  const root = document.getElementById("pii");
  if (!root) return;
  const form = document.getElementById("decide");
  const status = document.getElementById("save-state");
  const total = document.getElementById("pii-total");
  const dialog = document.getElementById("reject-dialog");
  const keys = document.getElementById("keys-dialog");
  let left = Number(total.dataset.total);
  let said = "";

  for (const each of document.querySelectorAll("[data-needs-script]")) each.hidden = false;

  function tell() {
    if (!status) return;
    status.classList.toggle("failed", Boolean(saving.failed));
    status.textContent = saving.failed || (saving.pending ? "Saving…" : said || "Each decision takes effect at once and is recorded.");
  }

  const saving = form ? window.aideSaving(form, tell) : null;

  // Groups and rows take the focus by a roving tabindex: one stop for all of them.

  const stops = () => [...root.querySelectorAll(".stop")];
  const groupOf = (stop) => stop.closest(".pii-group");
  const headOf = (group) => group.querySelector(".section-head");
  const button = (row, name) => row.querySelector("button[name='" + name + "']");
  const isOn = (each) => each && !each.hidden && !each.disabled;
  const isRow = (stop) => stop.classList.contains("sugg");

  function makeStop(stop) {
    for (const other of stops()) other.tabIndex = other === stop ? 0 : -1;
  }

  function go(stop) {
    if (!stop) return;
    makeStop(stop);
    stop.focus();
  }

  function step(stop, by) {
    const all = stops();
    return all[all.indexOf(stop) + by];
  }

  // One row's state, and what counts it.

  function put(row, state, words) {
    const was = row.dataset.state || "";
    row.dataset.state = state;
    row.querySelector(".standing").textContent = words;
    for (const name of ["accept", "reject"]) {
      const each = button(row, name);
      if (each) each.hidden = state !== "";
    }
    const change = Number(was !== "") - Number(state !== "");
    if (change) count(groupOf(row), change, row.dataset.left ? 0 : change);
    return was;
  }

  function count(group, by, ready) {
    left += by;
    total.textContent = left + (left === 1 ? " suggestion" : " suggestions") + " to decide";
    const data = group.dataset;
    data.count = Number(data.count) + by;
    data.ready = Math.max(0, Number(data.ready) + ready);
    group.querySelector("[data-words]").textContent = data.count + (data.count === "1" ? " column" : " columns");
    const each = group.querySelector("[data-group]");
    if (!each) return;
    each.querySelector("[data-ready-count]").textContent = data.ready;
    each.disabled = data.ready === "0";
    each.form.elements.seen.value = data.count;
  }

  function addUndo(row, id) {
    const old = button(row, "reopen");
    if (old) old.remove();
    const each = button(row, "reject").cloneNode();
    each.hidden = false;
    each.name = "reopen";
    each.value = id;
    each.textContent = "Undo";
    each.setAttribute("aria-label", "Undo " + row.dataset.title);
    row.querySelector(".decision").append(each);
  }

  async function decide(row, state, words, data) {
    put(row, state, words);
    const answer = await saving.send(data);
    if (!answer) {
      put(row, "", saving.failed);
      go(row);
      return;
    }
    said = answer.words;
    tell();
    if (answer.undo) addUndo(row, answer.undo);
  }

  function accept(row) {
    const each = button(row, "accept");
    if (!isOn(each)) return;
    const data = new FormData();
    data.set("accept", each.value);
    go(step(row, 1) || row);
    decide(row, "accepted", "Accepted by you.", data);
  }

  async function undo(row) {
    const each = button(row, "reopen");
    if (!isOn(each)) return;
    const data = new FormData();
    data.set("reopen", each.value);
    go(row);
    const answer = await saving.send(data);
    if (answer) location.reload();  // it waits again, under another number
  }

  // Rejecting asks for a reason; a digit chooses and, where it is enough, sends.

  function ask(row) {
    if (!dialog || !isOn(button(row, "reject"))) return;
    const inner = dialog.querySelector("form");
    inner.reset();
    inner.elements.reject.value = row.dataset.id;
    document.getElementById("reject-what").textContent = row.dataset.title;
    document.getElementById("reject-error").textContent = "";
    dialog.showModal();
    inner.querySelector("[name='why']").focus();
  }

  function submitReason(event) {
    event.preventDefault();
    const inner = dialog.querySelector("form");
    const why = inner.elements.why.value;
    const text = inner.elements.text;
    const tag = inner.elements.tag;
    if ((why === "4" && !text.value.trim()) || (why === "2" && !tag.value) || !why) {
      document.getElementById("reject-error").textContent = why === "2" ? "Choose the right tag." : why ? "Say what the other reason is." : "Choose a reason.";
      (why === "2" ? tag : why ? text : inner.querySelector("[name='why']")).focus();
      return;
    }
    const row = document.getElementById("sugg-" + inner.elements.reject.value);
    const data = new FormData(inner);
    const words = why === "2" ? "Changed by you to " + tag.value + "." : "Rejected by you.";
    dialog.close();
    go(step(row, 1) || row);
    decide(row, why === "2" ? "changed" : "rejected", words, data);
  }

  if (dialog) {
    const inner = dialog.querySelector("form");
    const back = () => go(document.getElementById("sugg-" + inner.elements.reject.value));
    inner.addEventListener("submit", submitReason);
    dialog.addEventListener("cancel", back);
    dialog.querySelector("[data-close]").addEventListener("click", back);
    dialog.addEventListener("keydown", (event) => {
      if (!/^[1-4]$/.test(event.key) || event.target.matches("textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      inner.querySelector("[name='why'][value='" + event.key + "']").checked = true;
      if (event.key === "2") inner.elements.tag.focus();
      else if (event.key === "4") inner.elements.text.focus();
      else inner.requestSubmit();
    });
  }

  // A group opens on demand, closes, and is accepted but for what is left to the person.

  async function fill(group, url) {
    const response = await fetch(url, { credentials: "same-origin", redirect: "manual" });
    if (!response.ok) throw new Error("The server answered " + response.status + ".");
    return response.text();
  }

  function rowsUrl(group, start) {
    return "?" + root.dataset.query + "&rows=" + encodeURIComponent(group.dataset.key) + (start ? "&start=" + start : "");
  }

  async function open(group, link) {
    const list = group.querySelector("ol");
    if (list.children.length) {
      list.replaceChildren();
      go(headOf(group));
      return;
    }
    link.setAttribute("aria-busy", "true");
    try {
      list.innerHTML = await fill(group, rowsUrl(group));
      go(list.querySelector(".sugg") || headOf(group));
    } catch (error) {
      location.href = link.href;
    } finally {
      link.removeAttribute("aria-busy");
    }
  }

  async function more(group, link) {
    const start = new URL(link.href).searchParams.get("start");
    const item = link.closest("li");
    const before = item.previousElementSibling;
    item.outerHTML = await fill(group, rowsUrl(group, start));
    go(before.nextElementSibling || before);
  }

  async function acceptGroup(group) {
    const each = group.querySelector("[data-group]");
    if (!isOn(each)) return;
    const data = new FormData(each.form);
    data.set("group", each.value);
    each.disabled = true;
    await saving.line;
    data.set("seen", group.dataset.count);
    const answer = await saving.send(data);
    if (!answer) {
      each.disabled = false;
      return;
    }
    said = answer.words + ".";
    tell();
    const place = group.querySelector(".group-said");
    place.hidden = false;
    place.textContent = answer.words;
    count(group, -answer.accepted, -answer.accepted);
    const list = group.querySelector("ol");
    if (list.children.length || answer.left) {
      list.innerHTML = answer.left ? await fill(group, rowsUrl(group)) : "";
    }
    const next = group.nextElementSibling;
    go(next ? headOf(next) : headOf(group));
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#pii a[data-open], #pii a[data-more]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const group = groupOf(link);
      return void ("open" in link.dataset ? open(group, link) : more(group, link));
    }
    const each = event.target.closest("#pii button");
    if (!each || !form) return;
    event.preventDefault();
    if (each.name === "group") return void acceptGroup(groupOf(each));
    const row = each.closest(".sugg");
    if (each.name === "accept") accept(row);
    else if (each.name === "reject") ask(row);
    else if (each.name === "reopen") undo(row);
  });

  root.addEventListener("focusin", (event) => {
    const stop = event.target.closest(".stop");
    if (stop) makeStop(stop);
  });

  root.addEventListener("keydown", (event) => {
    const stop = event.target;
    if (!stop.classList.contains("stop") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      j: () => go(step(stop, 1)), ArrowDown: () => go(step(stop, 1)),
      k: () => go(step(stop, -1)), ArrowUp: () => go(step(stop, -1)),
      Enter: () => open(groupOf(stop), groupOf(stop).querySelector("[data-open]")),
      a: () => isRow(stop) && accept(stop),
      r: () => isRow(stop) && ask(stop),
      u: () => isRow(stop) && undo(stop),
      A: () => acceptGroup(groupOf(stop)),
      "?": () => keys && keys.showModal(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  const target = location.hash.startsWith("#sugg-") && document.getElementById(location.hash.slice(1));
  makeStop(target || stops()[0]);
  if (target) go(target);
})();
