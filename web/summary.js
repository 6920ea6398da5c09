// The head of the page: what this is, how it went, the best trials and what distinguishes them, and the parameters in
// which several runs or sweeps differ.
"use strict";

(() => {
  const { el } = muster;

  const facts = (pairs) => el("dl", { class: "facts" }, pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));

  const chip = (state) => {
    const mark = el("span", { class: "chip" }, String(state).replaceAll("_", " "));
    const known = { complete: "ok", left: "stopped", lost: "crash", "all failed": "crash" };
    mark.style.setProperty("--chip", muster.stateColour(known[state] || state) || "#7a8594");
    return mark;
  };
  muster.chip = chip;

  // The outcome of a run; the state of a sweep, and "all failed" if it is complete without a result.
  muster.stateOf = (source) => {
    const { counts } = source;
    const failed = source.state === "complete" && counts && counts.over > 0 && counts.failed === counts.over;
    return failed ? "all failed" : source.outcome || source.state;
  };

  // How many trials ended how, as one bar.
  const classBar = (source) => {
    const parts = Object.entries(source.classes || {});
    if (source.counts && source.counts.running) parts.push(["running", source.counts.running]);
    if (source.counts && source.counts.waiting) parts.push(["waiting", source.counts.waiting]);
    const total = d3.sum(parts, ([, n]) => n);
    if (!total) return null;
    const bar = el("div", { class: "bar", role: "img", "aria-label": parts.map(([name, n]) => `${n} ${name}`).join(", ") });
    for (const [name, n] of parts) {
      const part = el("span", { title: `${n} ${name}` });
      part.style.flexGrow = n;
      part.style.background = muster.stateColour(name) || "#b8bec7";
      bar.append(part);
    }
    const key = el("div", { class: "legend" }, parts.map(([name, n]) => {
      const dot = el("i", { class: "dot" });
      dot.style.background = muster.stateColour(name) || "#b8bec7";
      return el("span", {}, dot, `${muster.count(n)} ${name.replaceAll("_", " ")}`);
    }));
    return el("div", {}, bar, key);
  };

  const sweepFacts = (source) => {
    const objective = source.objective;
    const best = source.best;
    return facts([
      ["objective", objective ? `${objective.maximize ? "largest" : "smallest"} ${objective.metric}` : ""],
      ["best", best ? `${muster.number(best.value)} (trial ${best.trial})` : "no trial has succeeded"],
      ["trials", source.counts ? `${muster.count(source.counts.over)} of ${muster.count(source.counts.possible)} ended` : ""],
      ["impossible", source.counts && source.counts.impossible ? muster.count(source.counts.impossible) : ""],
      ["budget", source.device_hours || ""],
      ["gain", source.no_gain || ""],
      ["skipped", source.counts && source.counts.skipped ? muster.plural(source.counts.skipped, "point") : ""],
      ["started", muster.time(source.began)],
      ["duration", muster.duration(source.seconds)],
      ["sum over ended trials", source.trial_seconds ? muster.duration(source.trial_seconds) : ""],
      ["id", source.id],
    ]);
  };

  const MOST_BEST = 8;
  const MOST_PARAMETERS = 8;
  const TEXT = 32; // characters of a cell
  const bestTable = (page, ranking) => {
    const { model, state } = page;
    const all = model.ranked(ranking);
    if (all.length === 0) return null;
    const ranked = all.filter((row) => state.visible[row]);
    const varying = model.columns.filter((column) => column.role === "param" && column.varies);
    const params = varying.slice(0, MOST_PARAMETERS);
    const columns = [ranking.sources.size > 1 ? model.column("source") : null, model.column("trial"), ranking.column, ...params].filter(Boolean);
    const name = model.rankings().length > 1 ? `Best trials, ${ranking.scale}` : "Best trials";
    const cell = (tag, text, column, attributes = {}) => el(tag, { class: column.numeric ? "number" : null, title: text.length > TEXT ? text : null, ...attributes }, tag === "td" && !column.numeric ? column.short(text, TEXT) : muster.shortened(text, TEXT));
    const table = el("table", { class: "plain", "aria-label": name.toLowerCase() },
      el("thead", {}, el("tr", {}, columns.map((column) => cell("th", column.label, column, { scope: "col" })))),
      el("tbody", {}, ranked.slice(0, MOST_BEST).map((row) => {
        const line = el("tr", { "data-row": row, tabindex: "0", class: row === state.lit ? "lit" : null }, columns.map((column) => cell("td", column.numeric ? muster.number(column.values[row]) : column.text(row), column)));
        for (const event of ["pointerenter", "focus"]) line.addEventListener(event, () => state.light(row));
        for (const event of ["pointerleave", "blur"]) line.addEventListener(event, () => state.light(-1));
        line.addEventListener("click", () => state.pin(row));
        line.addEventListener("keydown", (event) => event.key === "Enter" && state.pin(row));
        return line;
      })));
    const more = ranked.length - MOST_BEST;
    const hint = [
      more > 0 ? `and ${muster.count(more)} more` : "",
      ranked.length < all.length ? `${ranked.length ? "of" : "none of"} the trials that the filter and the ranges select` : "",
      varying.length > params.length ? `and ${muster.plural(varying.length - params.length, "more parameter")}, in the table below` : "",
    ].filter(Boolean).join("; ");
    return el("div", { class: "scrolls" }, el("h3", {}, name), ranked.length ? table : null, hint ? el("p", { class: "hint" }, hint) : null);
  };

  const distinction = (source, several) => {
    const found = source.distinction;
    if (!found || !found.parameters.length) return null;
    return el("div", {}, el("h3", {}, `What distinguishes the best ${found.top} of ${found.of}${several ? ` of ${source.label}` : ""}`),
      el("ul", {}, found.parameters.map((one) => el("li", {}, el("b", {}, one.name), ` ${one.best}`, el("span", { class: "soft" }, ` (all: ${one.all})`)))));
  };

  muster.view({
    id: "summary",
    title: null,
    kinds: ["sweep", "compare"],
    wide: true,
    build(section, page) {
      const fill = () => {
        const { model } = page;
        const several = model.sources.length > 1;
        const cards = model.sources.map((source) => el("div", { class: several ? "card" : "" },
          several ? el("h3", {}, source.label, " ", chip(muster.stateOf(source))) : null,
          source.why ? el("p", { class: "why" }, source.why) : null,
          source.kind === "sweep" ? sweepFacts(source) : facts([["started", muster.time(source.began)], ["duration", muster.duration(source.seconds)], ["id", source.id]]),
          source.kind === "sweep" ? classBar(source) : null));
        section.replaceChildren(
          el("div", { class: several ? "cards" : "" }, cards),
          muster.ledgerBar(model.data.ledger),
          el("div", { class: "flow" }, ...model.rankings().map((ranking) => bestTable(page, ranking)), ...model.sources.map((source) => distinction(source, several))),
        );
      };
      fill();
      const { state } = page;
      let later = 0;
      state.on("rows", ({ moving }) => {
        clearTimeout(later);
        if (moving) later = setTimeout(fill, 250);
        else fill();
      });
      state.on("lit", () => {
        for (const line of section.querySelectorAll("[data-row]")) line.classList.toggle("lit", Number(line.dataset.row) === state.lit);
      });
      state.on("data", fill);
      return { plots: [] };
    },
  });

  // Where the time of the devices went: one bar, the rows in their order.
  const LEDGER_COLOURS = [["productive_kept", "#2f9e62"], ["productive_lost", "#c8553d"], ["checkpoint", "#8a63c9"], ["starting", "#4a86c5"], ["silent", "#d08a2e"], ["failing", "#8f2f3f"], ["idle", "#a8b0ba"], ["unknown", "#6b7280"]];
  const ledgerColour = (name) => (LEDGER_COLOURS.find(([start]) => name.startsWith(start)) || [null, "#c9b458"])[1];

  muster.ledgerBar = (ledger) => {
    if (!ledger) return "";
    const { counts, total, rows, runs, drills } = ledger;
    const percent = (seconds) => `${((100 * seconds) / total).toFixed(1)} %`;
    const share = (row) => percent(row.seconds) + (drills < runs && row.drilled > 0 ? `, ${percent(row.drilled)} in drills` : "");
    const of = !drills ? "" : drills < runs ? `, with ${muster.plural(drills, "drill")} among ${runs} runs` : drills === 1 ? " in a drill" : ` in ${drills} drills`;
    const name = (row) => row.name.replaceAll("_", " ");
    const bar = el("div", { class: "bar", role: "img", "aria-label": `${counts} time: ${rows.map((row) => `${name(row)} ${share(row)}`).join(", ")}` });
    for (const row of rows) {
      const part = el("span", { title: `${name(row)}: ${share(row)}` });
      part.style.flexGrow = row.seconds / total;
      part.style.background = ledgerColour(row.name);
      bar.append(part);
    }
    const key = el("div", { class: "legend" }, rows.map((row) => {
      const dot = el("i", { class: "dot" });
      dot.style.background = ledgerColour(row.name);
      return el("span", {}, dot, `${name(row)} ${share(row)}`);
    }));
    return el("div", { class: "ledger" }, el("h3", {}, `Where ${muster.duration(total)} of ${counts} time went${of}`), bar, key);
  };

  // Everything that a sweep was described by.
  muster.view({
    id: "setup",
    title: "Set-up",
    kinds: ["sweep", "compare"],
    wide: true,
    when: (model) => model.sources.some((source) => (source.setup || []).length > 0),
    build(section, page) {
      const { model } = page;
      const described = model.sources.filter((source) => (source.setup || []).length > 0);
      section.append(...described.map((source) => el("div", {},
        model.sources.length > 1 ? el("h3", {}, source.label) : null,
        facts(source.setup.map(({ name, value }) => [name, el("span", { class: name === "command" ? "mono" : null }, value)])))));
      return { plots: [] };
    },
  });

  // Several runs or sweeps: what differs, first.
  muster.view({
    id: "differences",
    title: "Differences",
    kinds: ["compare"],
    wide: true,
    when: (model) => (model.data.differences || []).length > 0,
    build(section, { model }) {
      const rows = model.data.differences;
      const line = ({ name, values, differ }) => el("tr", { class: differ ? "differs" : null }, el("th", { scope: "row" }, name), values.map((value) => el("td", {}, value === null ? "–" : muster.number(value))));
      const head = el("tr", {}, el("th", { scope: "col" }, "parameter"), model.sources.map((source) => el("th", { scope: "col" }, source.label)));
      const differing = rows.filter((row) => row.differ);
      const equal = rows.filter((row) => !row.differ);
      section.append(differing.length
        ? el("table", { class: "plain", "aria-label": "differing parameters" }, el("thead", {}, head), el("tbody", {}, differing.map(line)))
        : el("p", {}, "All parameters are equal."));
      if (equal.length) {
        section.append(el("details", {}, el("summary", {}, `${equal.length} equal`), el("table", { class: "plain" }, el("thead", {}, head.cloneNode(true)), el("tbody", {}, equal.map(line)))));
      }
      return { plots: [] };
    },
  });

  muster.view({
    id: "importance",
    title: "Parameter importance",
    kinds: ["sweep", "compare"],
    when: (model) => model.sources.some((source) => source.importance),
    build(section, page) {
      const fill = () => {
        const sources = page.model.sources.filter((source) => source.importance);
        section.replaceChildren(section.firstChild, ...sources.map((source) => {
          const { parameters, method, gamma, trials } = source.importance;
          const most = d3.max(parameters, (one) => one.share) || 1;
          return el("div", {},
            sources.length > 1 ? el("h3", {}, source.label) : null,
            el("table", { class: "bars", "aria-label": "parameter importance" }, el("tbody", {}, parameters.map((one) => {
              const bar = el("div", { class: "measure" });
              bar.style.width = `${Math.max(0.5, (100 * one.share) / most)}%`;
              return el("tr", {}, el("th", { scope: "row" }, one.name), el("td", {}, bar), el("td", { class: "number" }, `${(100 * one.share).toFixed(1)} %`));
            }))),
            el("p", { class: "hint" }, method === "ped-anova"
              ? `PED-ANOVA (Watanabe, Bansal, Hutter 2023, arXiv 2304.10255) over ${muster.plural(trials, "trial")}, gamma ${gamma}: how much each parameter alone decides whether a trial is among the best ${muster.number(gamma * 100)} %. Shares depend on gamma.`
              : `Shares of the variance of the result between the means of each value, over ${muster.plural(trials, "trial")}: exact, since the grid is complete.`));
        }));
      };
      fill();
      page.state.on("data", fill);
      return { plots: [] };
    },
  });
})();
