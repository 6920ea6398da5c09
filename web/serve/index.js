// The list of all runs and sweeps, newest first.
"use strict";

(() => {
  const { el } = serve;
  const data = JSON.parse(document.getElementById("served").textContent);
  const entries = new Map(); // "run/ID" -> its line
  const keyOf = (entry) => `${entry.kind}/${entry.id}`;
  for (const entry of data.entries) entries.set(keyOf(entry), entry);

  const body = el("tbody", {});
  const filter = el("input", { type: "search", id: "filter", size: "30", placeholder: "name, id, state or tag", "aria-label": "filter" });
  const count = el("span", { id: "count", role: "status" });
  document.getElementById("page").append(
    el("header", {}, el("h1", {}, "Runs and sweeps"), el("span", { id: "connection", role: "status" })),
    el("div", { class: "controls", role: "search" }, filter, count),
    el("table", { "aria-label": "runs and sweeps, newest first" },
      el("thead", {}, el("tr", {}, ...["started", "kind", "name", "id", "state", "progress", "best", "tags", "note"].map((text) => el("th", { scope: "col" }, text)))), body));

  const progressOf = (entry) => {
    if (entry.kind === "sweep") {
      const failed = entry.failed ? `, ${entry.failed} failed` : "";
      const running = entry.running ? `, ${entry.running} running` : "";
      return `${entry.over} of ${entry.trials} trials${running}${failed}`;
    }
    if (entry.state === "running") return entry.waits ? "waits for devices" : `${entry.phase}, ${entry.running} processes`;
    return serve.duration(entry.seconds);
  };
  const bestOf = (entry) => (entry.best ? `${entry.best.metric} ${serve.number(entry.best.value)} (trial ${entry.best.trial})` : "");

  const rows = new Map();
  const draw = (entry) => {
    const key = keyOf(entry);
    const row = el("tr", { "data-key": key, "data-state": entry.state },
      el("td", { class: "time" }, serve.time(entry.started_at)), el("td", {}, entry.kind),
      el("td", {}, el("a", { href: `${serve.root}/${key}` }, entry.name)), el("td", { class: "mono" }, entry.id),
      el("td", {}, el("span", { class: `state ${entry.state}` }, entry.state)), el("td", {}, progressOf(entry)),
      el("td", {}, bestOf(entry)), el("td", {}, entry.tags.join(", ")), el("td", { title: entry.why }, entry.note || ""));
    const old = rows.get(key);
    rows.set(key, row);
    if (old) old.replaceWith(row);
    return Boolean(old);
  };
  const matches = (entry, text) =>
    text === "" || [entry.name, entry.id, entry.state, entry.kind, entry.note || "", ...entry.tags].some((one) => one.includes(text));
  const show = () => {
    const text = filter.value.trim();
    let shown = 0;
    for (const [key, entry] of entries) {
      const visible = matches(entry, text);
      rows.get(key).hidden = !visible;
      shown += visible ? 1 : 0;
    }
    count.textContent = `${shown} of ${entries.size}`;
  };
  for (const entry of entries.values()) {
    draw(entry);
    body.append(rows.get(keyOf(entry)));
  }
  show();
  filter.addEventListener("input", show);

  serve.follow(data.version, {
    lines: (lines) => {
      for (const entry of lines) {
        entries.set(keyOf(entry), entry);
        if (!draw(entry)) body.prepend(rows.get(keyOf(entry)));
      }
      show();
    },
    gone: (entry) => {
      const row = rows.get(keyOf(entry));
      if (row) row.remove();
      rows.delete(keyOf(entry));
      entries.delete(keyOf(entry));
      show();
    },
  });
  document.documentElement.dataset.ready = "true";
})();
