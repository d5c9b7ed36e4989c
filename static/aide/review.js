/* The review page: decisions without a reload, and keys while a row has the focus.
   It needs saving.js. The page works without both. */
"use strict";

(() => {
  const root = document.getElementById("review");
  const form = document.getElementById("decide");
  if (!root || !form) return;

  let rows = [...root.querySelectorAll(".change")];
  const status = document.getElementById("save-state");
  const dialog = document.getElementById("reject-dialog");
  const keys = document.getElementById("keys-dialog");
  const second = root.dataset.second === "1";
  const UNDECIDED = second ? ["waiting"] : ["open", "stale"];
  const counts = {
    decided: Number(root.dataset.decided), total: Number(root.dataset.total),
    safe: Number(root.dataset.openSafe), noted: Number(root.dataset.noted),
  };

  for (const each of document.querySelectorAll("[data-needs-script]")) each.hidden = false;

  // Rows take the focus by a roving tabindex: one stop for all of them.

  function makeStop(row) {
    for (const other of rows) other.tabIndex = other === row ? 0 : -1;
  }

  function go(row) {
    if (!row) return;
    makeStop(row);
    row.focus();
  }

  const after = (row) => rows[rows.indexOf(row) + 1];
  const before = (row) => rows[rows.indexOf(row) - 1];
  const button = (row, name) => row.querySelector("button[name='" + name + "']");
  const isOn = (each) => each && !each.hidden && !each.disabled;
  const needsMe = (row) => isOn(button(row, "approve")) || (row.dataset.state === "stale" && isOn(button(row, "reject")));

  function nextThatNeedsMe(row) {
    const at = rows.indexOf(row);
    return [...rows.slice(at + 1), ...rows.slice(0, at + 1)].find(needsMe);
  }

  // What the server is told, and what the page says meanwhile.

  function say(text, bad) {
    if (!status) return;
    status.classList.toggle("failed", Boolean(bad));
    if (status.textContent !== text) status.textContent = text;
  }

  function tell() {
    if (saving.failed) return say(saving.failed, true);
    if (saving.pending) return say("Saving…");
    const noted = counts.noted;
    say(noted ? noted + (noted === 1 ? " decision" : " decisions") + " noted, not applied yet." : "Nothing is applied until you finish.");
  }

  const saving = window.aideSaving(form, tell);
  const { send } = saving;

  // One row's state, and everything on the page that counts it.

  function wordsFor(row, state, reason) {
    const two = Number(row.dataset.people) > 1;
    if (state === "approved") {
      if (row.dataset.was === "waiting") return "Confirmed by you.";
      return two ? "Approved by you. A second person must confirm." : "Approved by you.";
    }
    return state === "rejected" ? "Rejected by you" + (reason ? ": " + reason : ".") : "";
  }

  function standing(row) {
    const place = row.querySelector(".decision");
    const there = place.querySelector(".standing");
    if (there) return there;
    const made = document.createElement("p");
    made.className = "standing";
    place.prepend(made);
    return made;
  }

  function put(row, state, words) {
    const was = row.dataset.state;
    const kept = { state: was, words: standing(row).textContent };
    if (was !== "approved" && was !== "rejected") row.dataset.base = was;
    row.dataset.state = state;
    standing(row).textContent = words;
    const noted = state === "approved" || state === "rejected";
    if (noted && !button(row, "undo")) addUndo(row);
    for (const name of ["approve", "reject", "undo"]) {
      const each = button(row, name);
      if (each) each.hidden = name === "undo" ? !noted : noted;
    }
    count(row, was, state);
    return kept;
  }

  function addUndo(row) {
    const like = button(row, "reject") || button(row, "approve");
    const each = like.cloneNode();
    each.name = "undo";
    each.classList.add("quiet");
    each.textContent = "Undo";
    each.setAttribute("aria-label", "Undo " + row.dataset.title);
    row.querySelector(".decision").append(each);
  }

  function count(row, was, now) {
    const isOpen = (state) => UNDECIDED.includes(state);
    const isNoted = (state) => state === "approved" || state === "rejected";
    const isSafe = (each, state) => state === "open" && each.dataset.risk === "safe";
    counts.decided += Number(isOpen(was)) - Number(isOpen(now));
    counts.noted += Number(isNoted(now)) - Number(isNoted(was));
    counts.safe += Number(isSafe(row, now)) - Number(isSafe(row, was));
    const bar = document.getElementById("progress");
    if (bar) {
      bar.value = counts.decided;
      document.getElementById("progress-words").textContent = counts.decided + " of " + counts.total + (second ? " confirmed" : " decided");
    }
    showCount(document.querySelector("[data-safe='all']"), counts.safe);
    countIn(row.closest("[data-section]"), Number(isOpen(was)) - Number(isOpen(now)), Number(isSafe(row, now)) - Number(isSafe(row, was)));
  }

  // A section counts the rows of other pages, too.
  function countIn(section, decided, safe) {
    const data = section.dataset;
    data.decided = Number(data.decided) + decided;
    data.openSafe = Number(data.openSafe) + safe;
    const link = root.querySelector("[data-index='" + data.section + "']");
    link.querySelector("[data-tally]").textContent = data.decided + "/" + data.total;
    link.classList.toggle("done", data.decided === data.total);
    showCount(section.querySelector("[data-safe]"), Number(data.openSafe));
  }

  function showCount(each, number) {
    if (!each) return;
    each.querySelector("[data-count]").textContent = number;
    each.hidden = number === 0;
  }

  async function decide(row, name, state, data, words) {
    const firstState = row.dataset.base || (row.dataset.was === "waiting" ? "waiting" : "open");
    const kept = put(row, state === "open" ? firstState : state, words);
    row.dataset.saving = "1";
    const answer = await send(data);
    delete row.dataset.saving;
    if (!answer && row.dataset.state === (state === "open" ? firstState : state)) {
      put(row, kept.state, kept.words);
      standing(row).textContent = saving.failed;
      go(row);
    }
  }

  function simple(row, name) {
    const each = button(row, name);
    if (!isOn(each)) return false;
    const data = new FormData();
    data.set(name, row.dataset.id);
    const state = name === "approve" ? "approved" : "open";
    decide(row, name, state, data, name === "approve" ? wordsFor(row, "approved") : "");
    return true;
  }

  function approve(row) {
    if (!simple(row, "approve")) return;
    go(after(row) || row);
  }

  async function approveSafe(each) {
    if (!isOn(each)) return;
    const key = each.dataset.safe;
    const scope = key === "all" ? root : root.querySelector("[data-section='" + key + "']");
    const taken = [...scope.querySelectorAll(".change")].filter((row) => row.dataset.state === "open" && row.dataset.risk === "safe");
    const data = new FormData();
    data.set("safe", key);
    const hadFocus = document.activeElement === each;
    const kept = taken.map((row) => [row, put(row, "approved", wordsFor(row, "approved"))]);
    if (hadFocus) {
      const place = key === "all" ? document.querySelector("[data-finish]") : taken[0];
      if (place) place.tagName === "A" ? place.focus() : go(place);
    }
    const answer = await send(data);
    const done = new Set(answer ? answer.ids.map(String) : []);
    for (const [row, old] of kept) {
      if (!done.has(row.dataset.id) && row.dataset.state === "approved") put(row, old.state, old.words);
    }
    // Some are folded, or on another page of this review: the numbers of all come anew.
    if (answer && answer.ids.length > taken.length) location.reload();
  }

  // Safe changes of a long review come when someone opens them.

  async function open(link) {
    link.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(link.href + "&rows=1", { credentials: "same-origin", redirect: "manual" });
      if (!response.ok) throw new Error("The server answered " + response.status + ".");
      const section = link.closest("[data-section]");
      const list = section.querySelector("ol");
      const last = list.lastElementChild;
      list.insertAdjacentHTML("beforeend", await response.text());
      rows = [...root.querySelectorAll(".change")];
      link.parentElement.remove();
      go(last ? last.nextElementSibling : list.firstElementChild);
    } catch (error) {
      location.href = link.href;
    }
  }

  // Rejecting asks for a reason in a dialog.

  function ask(row) {
    if (!dialog || !isOn(button(row, "reject"))) return;
    const inner = dialog.querySelector("form");
    inner.reset();
    inner.elements.reject.value = row.dataset.id;
    document.getElementById("reject-what").textContent = row.dataset.title;
    document.getElementById("reject-error").textContent = "";
    if (row.dataset.state === "stale") {
      inner.elements.why.value = "other";
      inner.elements.text.value = "We keep what the registry has.";
    }
    dialog.showModal();
    inner.elements.why.focus();
  }

  function submitReason(event) {
    event.preventDefault();
    const inner = event.target;
    const why = inner.elements.why;
    const text = inner.elements.text.value.trim();
    if (!why.value || (why.value === "other" && !text)) {
      document.getElementById("reject-error").textContent = why.value ? "Say what the other reason is." : "Choose a reason.";
      (why.value ? inner.elements.text : why).focus();
      return;
    }
    const row = document.getElementById("change-" + inner.elements.reject.value);
    const label = why.options[why.selectedIndex].text;
    const reason = why.value === "other" ? text : label + (text ? ": " + text : "");
    dialog.close();
    decide(row, "reject", "rejected", new FormData(inner), wordsFor(row, "rejected", reason));
    go(after(row) || row);
  }

  if (dialog) {
    dialog.querySelector("form").addEventListener("submit", submitReason);
    dialog.addEventListener("cancel", () => go(document.getElementById("change-" + dialog.querySelector("form").elements.reject.value)));
    dialog.querySelector("[data-close]").addEventListener("click", () => go(document.getElementById("change-" + dialog.querySelector("form").elements.reject.value)));
  }

  // What someone says about a change.

  const talk = document.getElementById("comment-dialog");

  function askComment(row) {
    if (!talk || !isOn(button(row, "comment"))) return;
    const inner = talk.querySelector("form");
    inner.reset();
    inner.elements.comment.value = row.dataset.id;
    document.getElementById("comment-what").textContent = row.dataset.title;
    talk.showModal();
    inner.elements.text.focus();
  }

  async function submitComment(event) {
    event.preventDefault();
    const data = new FormData(event.target);
    const row = document.getElementById("change-" + data.get("comment"));
    talk.close();
    go(row);
    const answer = await send(data);
    if (!answer) return askAgain(row, data.get("text"));
    let list = row.querySelector(".talk");
    if (!list) {
      list = document.createElement("ul");
      list.className = "talk";
      list.setAttribute("aria-label", "Comments");
      row.append(list);
    }
    const item = document.createElement("li");
    const who = document.createElement("strong");
    who.textContent = answer.by;
    item.append(who, " ", answer.text);
    list.append(item);
  }

  function askAgain(row, text) {  // what was typed is not lost
    askComment(row);
    talk.querySelector("form").elements.text.value = text;
  }

  if (talk) {
    const back = () => go(document.getElementById("change-" + talk.querySelector("form").elements.comment.value));
    talk.querySelector("form").addEventListener("submit", submitComment);
    talk.addEventListener("cancel", back);
    talk.querySelector("[data-close]").addEventListener("click", back);
  }

  // Splitting and pairing make other rows of it: the page comes anew, after what is being saved.

  async function leaveBy(each) {
    if (!isOn(each)) return;
    await saving.line;
    if (!saving.failed) form.requestSubmit(each);
  }

  // Buttons and keys.

  document.addEventListener("click", (event) => {
    const each = event.target.closest("button");
    if (!each || each.form !== form) return;
    if (each.name === "split" || each.name === "pair") {
      if (!saving.pending) return;
      event.preventDefault();
      return void leaveBy(each);
    }
    event.preventDefault();
    if (each.name === "safe") return void approveSafe(each);
    const row = each.closest(".change");
    if (each.name === "approve") approve(row);
    else if (each.name === "reject") ask(row);
    else if (each.name === "comment") askComment(row);
    else if (each.name === "undo") { if (simple(row, "undo")) go(row); }
  });

  root.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-open]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link);
  });

  root.addEventListener("focusin", (event) => {
    const row = event.target.closest(".change");
    if (row) makeStop(row);
  });

  root.addEventListener("keydown", (event) => {
    const row = event.target;
    if (!row.classList.contains("change") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      j: () => go(after(row)), ArrowDown: () => go(after(row)),
      k: () => go(before(row)), ArrowUp: () => go(before(row)),
      n: () => go(nextThatNeedsMe(row)),
      a: () => approve(row),
      r: () => ask(row),
      c: () => askComment(row),
      s: () => leaveBy(button(row, "split") || button(row, "pair")),
      u: () => { if (simple(row, "undo")) go(row); },
      A: () => approveSafe(row.closest("[data-section]").querySelector("[data-safe]")),
      "?": () => keys && keys.showModal(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // Finishing waits for what is being saved.
  for (const link of document.querySelectorAll("[data-finish]")) {
    link.addEventListener("click", (event) => {
      if (!saving.pending) return;
      event.preventDefault();
      const wait = setInterval(() => {
        if (saving.pending) return;
        clearInterval(wait);
        if (!saving.failed) location.href = link.href;
      }, 50);
    });
  }

  const target = location.hash.startsWith("#change-") && document.getElementById(location.hash.slice(1));
  const start = rows.includes(target) ? target : rows.find(needsMe) || rows[0];
  if (start) makeStop(start);
  if (start === target) go(start);
})();
