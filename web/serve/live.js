// Renders the page of a run or sweep from the server's data, keeps it current with patches, and puts the steering above
// it. The format of data and patches is described in src/page/write/page_data.h.
"use strict";

(() => {
  const QUIET = 10_000; // between two readings of what patches do not have, in milliseconds
  let follow = null;
  let pending = null;
  let waiting = 0;
  let cost = 0; // of the last update, in milliseconds
  let reading = 0;

  const load = async () => {
    const response = await fetch(`${serve.base}/data`);
    if (!response.ok) throw new Error((await response.text()).trim());
    return response.json();
  };

  // What arrives while the page is busy becomes one update: drawing takes at most a third of the time.
  const gather = (patch) => {
    const before = pending || {};
    pending = {
      ...before, ...patch,
      rows: [...(before.rows || []), ...(patch.rows || [])],
      curves: [...(before.curves || []), ...(patch.curves || [])],
    };
    if (!waiting) waiting = setTimeout(apply, Math.max(10, 2 * cost));
  };

  const apply = () => {
    const patch = pending;
    pending = null;
    waiting = 0;
    const { model } = muster.page;
    // A page that began with nothing does not know what its columns and curves are.
    if ((model.count === 0 && patch.rows.length) || (model.metrics.length === 0 && patch.curves.length)) {
      show();
      return;
    }
    const began = performance.now();
    if (patch.state) patch.sources = model.sources.map((source, i) => (i === 0 ? { ...source, ...patch.state } : source));
    muster.update(patch);
    tellState();
    cost = performance.now() - began;
    if (model.kind === "sweep" && patch.rows.some(({ values }) => values.took !== null)) readSoon();
  };

  // Importance, causes and what ran where follow from all trials: they are read again, now and then.
  const readSoon = () => {
    if (reading) return;
    reading = setTimeout(async () => {
      const began = performance.now();
      try {
        const { page } = await load();
        muster.update({ attempts: page.attempts, sources: page.sources });
      } finally {
        // A server that needs long for it is asked less often.
        setTimeout(() => { reading = 0; }, 20 * (performance.now() - began));
      }
    }, QUIET);
  };

  const tellState = () => {
    const { data, sources } = muster.page.model;
    const facts = data.kind === "run" ? data.run : sources[0];
    const state = facts.outcome || facts.state;
    const chip = document.querySelector("h1 .chip");
    if (chip && document.documentElement.dataset.state !== state) chip.replaceWith(muster.chip(state));
    document.documentElement.dataset.state = state;
    const more = document.getElementById("more");
    serve.holds(data.kind === "run" ? {} : { slots: facts.slots, note: facts.note });
    serve.enable(data.kind, state);
    more.textContent = [facts.slots ? `${facts.slots} slots` : "", facts.note ? `note: ${facts.note}` : ""].filter(Boolean).join(", ");
  };

  const controls = (kind) => {
    const bar = serve.controls(kind);
    if (kind !== "sweep") return bar;
    const number = serve.el("input", { id: "trial", type: "number", min: "0", size: "6" });
    const at = () => `${serve.base}/trial/${number.value}`;
    bar.append(serve.el("form", { id: "trial-form", onsubmit: (event) => {
      event.preventDefault();
      location.href = at();
    } }, serve.el("label", { class: "field" }, "trial ", number), serve.el("button", { type: "submit" }, "Open"),
      serve.twice("Stop trial", "sure?", () => serve.act("stop", {}, () => `trial ${number.value} is stopping`, at()), { id: "stop-trial" })));
    // The trial that is lit in all views.
    muster.page.state.on("lit", () => {
      const { state, model } = muster.page;
      if (state.pinned && state.lit >= 0) number.value = model.keys[state.lit].split(":")[1];
    });
    return bar;
  };

  const show = async () => {
    const { version, page, floats } = await load();
    muster.render(page, floats);
    const header = document.querySelector("header");
    header.before(serve.el("nav", {}, serve.el("a", { href: `${serve.root}/` }, "all runs and sweeps")));
    const written = document.getElementById("live"); // says whether it was live when its data was made
    if (written) written.remove();
    header.append(serve.el("p", { id: "connection", class: "soft", role: "status" }), serve.el("p", { id: "more", class: "soft" }));
    header.after(controls(page.kind));
    delete document.documentElement.dataset.state;
    tellState();
    if (page.kind === "run") fetch(`${serve.base}/state`).then((answer) => answer.json()).then(serve.holds);
    document.documentElement.dataset.ready = "true";
    if (follow) follow(version);
    else follow = serve.follow(version, { update: gather });
  };
  show().catch((error) => { document.getElementById("page").textContent = error.message; });
})();
