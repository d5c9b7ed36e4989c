/* Sends what is decided on a page, one after another, and knows what is not saved yet. For review.js. */
"use strict";

window.aideSaving = (form, tell) => {
  const saving = { pending: 0, failed: "", line: Promise.resolve(), send };

  // In the order in which they were made, so that an undo never overtakes its approval.
  function send(data) {
    data.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    saving.pending += 1;
    saving.failed = "";
    tell();
    const sent = saving.line.then(() => post(data));
    saving.line = sent;
    return sent;
  }

  async function post(data) {
    let broken = false;  // an error of the server says nothing about what it had done by then
    try {
      const response = await fetch(form.action, {
        method: "POST", body: data, credentials: "same-origin", redirect: "manual",
        headers: { Accept: "application/json" },
      });
      broken = response.status >= 500;
      const isJson = (response.headers.get("content-type") || "").includes("json");
      const answer = isJson ? await response.json() : null;
      if (response.ok && answer && answer.ok) return answer;
      if (answer && answer.detail) throw new Error(answer.detail);
      if (response.type === "opaqueredirect") throw new Error("You were signed out. Sign in again; decisions noted before are kept.");
      if (response.status === 403) throw new Error("You may not decide this.");
      throw new Error("The server did not save it (" + response.status + ").");
    } catch (error) {
      const lost = error instanceof TypeError;
      saving.failed = "Not saved. " + (lost ? "The server cannot be reached; try again." : error.message);
      if (broken) saving.failed = "It may not have been saved. Reload the page to see.";
      return null;
    } finally {
      saving.pending -= 1;
      tell();
    }
  }

  return saving;
};
