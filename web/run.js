// The parts of the page of one run: its outcome and first failure, the start-up, a lane for each process, the plan, and
// the last lines of logs.
"use strict";

(() => {
  const { el } = muster;
  const MOST_VALUES = 200; // of processes, where one is explained
  const lines = (texts) => el("pre", { class: "log", tabindex: "0" }, texts.join("\n"));

  // Where a reader finds the sweep of a trial: its page on the same server, else its folder.
  const sweepAddress = (folder) => {
    const page = /^http/.test(location.protocol) ? /^(.*\/sweep\/[^/]+)\/trial\//.exec(location.pathname) : null;
    return page ? page[1] : `file://${encodeURI(folder)}`;
  };

  muster.view({
    id: "outcome",
    title: null,
    kinds: ["run"],
    wide: true,
    build(section, page) {
      const fill = () => {
        const run = page.model.data.run;
        const facts = [
          ["exit code", run.outcome === "running" ? "" : run.exit_code],
          ["started", muster.time(run.began)],
          ["duration", muster.duration(run.seconds)],
          ["processes", muster.count(run.lanes.length)],
          ["hosts", run.hosts.join(", ")],
          ["restarts", run.restarts.length || ""],
          ["checkpoint", run.checkpoint],
          ["git", run.git],
          ["tags", run.tags.join(", ")],
          ["plan", run.plan_id.slice(0, 16)],
          ["id", run.id],
          ["trial of", run.sweep_dir ? el("a", { href: sweepAddress(run.sweep_dir) }, run.sweep_dir) : ""],
        ];
        section.replaceChildren(
          run.why ? el("p", { class: "why" }, run.why) : "",
          el("dl", { class: "facts" }, facts.filter(([, value]) => value !== "" && value !== null && value !== undefined).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
          run.damage ? el("p", { class: "why" }, run.damage) : "",
          muster.ledgerBar(page.model.data.ledger),
          ...run.restarts.map((one) => el("p", { class: "soft" }, `Restart of ${one.scope === "process" ? one.process : `the ${one.scope}`} at ${muster.duration(one.at)}: ${one.why}`)),
          ...run.verdicts.map((one) => el("p", { class: "soft" }, `Verdict at ${muster.duration(one.at)} on ${one.process}: ${one.verdict.replace("_", " ")}${one.verdict === "exclude_host" ? ` ${one.host}` : ""}, because ${one.evidence}`)),
        );
      };
      fill();
      page.state.on("data", fill);
      return { plots: [] };
    },
  });

  muster.view({
    id: "failure",
    title: "First failure",
    kinds: ["run"],
    wide: true,
    when: (model) => Boolean(model.data.run.failure),
    build(section, { model, state }) {
      const failure = model.data.run.failure;
      const row = model.rowOf.get(failure.key);
      const name = el("button", { type: "button", class: "link", onclick: () => state.pin(row) }, failure.process);
      section.append(
        el("p", { class: "headline" }, name, ` ${failure.why}`, failure.host ? ` on ${failure.host}` : "", `, ${muster.duration(failure.after)} after its start`),
        failure.hint ? el("p", { class: "hintline mono" }, failure.hint) : "",
        failure.error ? el("p", { class: "hintline mono" }, failure.error) : "",
        failure.evidence.length ? el("ul", {}, failure.evidence.map((text) => el("li", {}, text))) : "",
        failure.doubts.length ? el("p", { class: "soft" }, `Order uncertain: ${failure.doubts.join("; ")}`) : "",
        failure.lines.length ? el("figure", {}, el("figcaption", {}, `last lines of ${failure.log}`), lines(failure.lines)) : "",
        failure.traceback && failure.traceback.length ? el("details", {}, el("summary", {}, "traceback"), lines(failure.traceback)) : "",
      );
      if (failure.others.length) {
        section.append(el("h3", {}, "Other failures"), ...failure.others.map((other) =>
          el("details", {}, el("summary", {}, `${other.who} ${other.why}`, other.hint ? `: ${other.hint}` : ""), lines(other.lines))));
      }
      if (failure.timeline.length) {
        section.append(el("h3", {}, "Around the failure"), el("table", { class: "plain", "aria-label": "timeline of the failure" }, el("tbody", {}, failure.timeline.map((entry) =>
          el("tr", {}, el("td", { class: "number" }, `${entry.from >= 0 ? "+" : "−"}${muster.number(Number(Math.abs(entry.from).toFixed(3)))} s`), el("td", {}, entry.who), el("td", {}, entry.what))))));
      }
      return { plots: [] };
    },
  });

  muster.view({
    id: "startup",
    title: "Start-up",
    kinds: ["run"],
    wide: true,
    when: (model) => model.data.run.startup.length > 0,
    build(section, { model }) {
      const bars = model.data.run.startup;
      const plot = new muster.Plot(section, { height: 34 + bars.length * 20, label: "Start-up", draw, describe: () => `Start-up: ${bars.map((bar) => `${bar.name} ${muster.duration(bar.to - bar.from)}`).join(", ")}` });
      function draw(context) {
        const theme = muster.theme();
        const low = d3.min(bars, (bar) => bar.from);
        const x = d3.scaleLinear().domain([low, Math.max(low + 1e-3, d3.max(bars, (bar) => bar.to))]).range([220, plot.width - 110]);
        muster.drawSeconds(context, x, 4, 4 + bars.length * 20);
        context.textBaseline = "middle";
        bars.forEach((bar, i) => {
          const y = 4 + i * 20;
          context.textAlign = "right";
          context.fillStyle = theme.ink;
          context.fillText(muster.shortened(bar.name, 32), 212, y + 10);
          context.fillStyle = bar.role ? theme.accent : theme.soft;
          context.fillRect(x(bar.from), y + 3, Math.max(1.5, x(bar.to) - x(bar.from)), 14);
          const text = muster.duration(bar.to - bar.from) + (bar.detail ? `, ${bar.detail}` : "");
          const room = plot.width - x(bar.to) - 10 > context.measureText(text).width;
          context.textAlign = room ? "left" : "right";
          context.fillStyle = room ? theme.soft : theme.panel;
          context.fillText(text, x(bar.to) + (room ? 6 : -6), y + 10);
        });
      }
      return { plots: [plot] };
    },
  });

  muster.view({
    id: "plan",
    title: "Plan",
    kinds: ["run"],
    wide: true,
    when: (model) => model.data.run.plan.roles.length > 0,
    build(section, { model }) {
      const { roles, parameters } = model.data.run.plan;
      const answer = el("p", { class: "answer", role: "status" }, "Choose a value to see where it comes from.");
      const value = (name, entry) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {},
        entry.source || entry.values ? el("button", { type: "button", class: "link mono", "aria-label": `explain ${name}`, onclick: () => explain(name, entry) }, entry.text) : el("span", { class: "mono" }, entry.text)));
      const explain = (name, entry) => {
        const source = entry.source ? `${name} = ${entry.text}: ${entry.source}` : `${name} = ${entry.text}`;
        answer.replaceChildren(el("span", {}, source), ...(entry.values || []).slice(0, MOST_VALUES).map(([who, text]) => el("div", { class: "mono" }, `${who}: ${text}`)),
          entry.processes > MOST_VALUES ? el("div", {}, `and ${muster.count(entry.processes - MOST_VALUES)} more`) : "");
      };
      section.append(answer);
      if (parameters.length) {
        section.append(el("details", { open: parameters.length <= 24 }, el("summary", {}, muster.plural(parameters.length, "parameter")), el("table", { class: "plain" }, el("tbody", {}, parameters.map((one) => value(one.name, one))))));
      }
      for (const role of roles) {
        section.append(el("details", {}, el("summary", {}, el("b", {}, role.name), ` ${role.kind}, ${muster.plural(role.processes, "process").replace(/ss$/, "ss").replace("processs", "processes")}`),
          el("p", { class: "mono command" }, role.command),
          el("table", { class: "plain", "aria-label": `environment of ${role.name}` }, el("tbody", {}, role.environment.map((one) => value(one.name, one))))));
      }
      return { plots: [] };
    },
  });

  muster.view({
    id: "logs",
    title: "Logs",
    kinds: ["run"],
    wide: true,
    when: (model) => model.data.run.logs.length > 0,
    build(section, page) {
      const { model, state } = page;
      let chosen = model.data.run.logs[0].key;
      const box = el("div", {});
      section.append(box);
      const fill = () => {
        const { logs } = model.data.run;
        const others = model.data.run.lanes.filter((lane) => lane.spans.length).length - logs.length;
        const log = logs.find((one) => one.key === chosen) || logs[0];
        box.replaceChildren(
          el("div", { class: "controls" }, muster.select("last lines of", logs.map((one) => [one.key, one.process]), log.key, (key) => { chosen = key; fill(); })),
          el("p", { class: "hint" }, log.path),
          lines(log.lines),
          others > 0 ? el("p", { class: "hint" }, `and logs of ${muster.count(others)} more in the folder of the run`) : "");
      };
      fill();
      state.on("lit", () => {
        if (!state.pinned) return;
        const key = model.keys[state.lit];
        if (key !== chosen && model.data.run.logs.some((one) => one.key === key)) {
          chosen = key;
          fill();
        }
      });
      state.on("data", fill);
      return { plots: [] };
    },
  });
})();
