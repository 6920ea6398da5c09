// What happened to the trials: which device ran what, failures by host and by value, and the rungs of early stopping.
"use strict";

(() => {
  const { el } = muster;
  const LANE = 22;
  const MARGIN = { top: 6, right: 64, bottom: 28, left: 130 };

  muster.secondsTicks = (scale, gap) => {
    const [low, high] = scale.domain();
    const [from, to] = scale.range();
    const wanted = ((high - low) * gap) / Math.max(1, to - from);
    const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800];
    const step = steps.find((one) => one >= wanted) || Math.ceil(wanted / 86400) * 86400;
    return d3.range(Math.ceil(low / step - 1e-9) * step, high + step * 1e-9, step).map((value) => Number(value.toPrecision(12)));
  };
  muster.drawSeconds = (context, scale, top, bottom) => {
    const theme = muster.theme();
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const value of muster.secondsTicks(scale, 80)) {
      const x = Math.round(scale(value)) + 0.5;
      context.strokeStyle = theme.line;
      context.beginPath();
      context.moveTo(x, top);
      context.lineTo(x, bottom);
      context.stroke();
      context.fillStyle = theme.soft;
      context.fillText(value === 0 ? "0" : muster.duration(value), x, bottom + 6);
    }
  };

  muster.view({
    id: "devices",
    title: "Devices over time",
    kinds: ["sweep", "compare"],
    wide: true,
    when: (model) => model.attempts.length > 0,
    build(section, { model, state }) {
      let lanes = [];
      let places = [];
      let x = null;
      let walked = null; // the bar that the keys have reached
      const foot = el("p", { class: "hint" });
      const scroller = el("div", { class: "lanes", tabindex: "0", role: "group", "aria-label": "devices over time: arrows move through the attempts, Enter keeps a trial lit" });
      section.append(scroller, foot);
      const plot = new muster.Plot(scroller, { height: 100, layers: ["main", "lit"], label: "Devices over time", draw, describe: () => foot.textContent });

      // An attempt occupies each of its devices; without devices it takes the first free lane of its host.
      const arrange = () => {
        const byName = new Map();
        const lane = (name) => {
          if (!byName.has(name)) byName.set(name, { name, bars: [], until: -Infinity });
          return byName.get(name);
        };
        // Times are those of each sweep since it began; together they are since the first one began.
        const began = model.sources.map((source) => Date.parse(source.began) / 1000);
        const first = d3.min(began.filter(Number.isFinite));
        const after = (row) => (Number.isFinite(began[model.sourceOf(row)]) ? began[model.sourceOf(row)] - first : 0);
        const attempts = model.attempts.map((attempt) => {
          const offset = after(attempt.row);
          return { ...attempt, from: attempt.from + offset, to: (attempt.to === null ? model.data.now : attempt.to) + offset };
        });
        attempts.sort((a, b) => a.from - b.from);
        for (const attempt of attempts) {
          const { to } = attempt;
          const names = attempt.devices && attempt.devices.length ? attempt.devices : [];
          if (names.length === 0) {
            const host = attempt.host || "this machine";
            let i = 1;
            while (byName.has(`${host} #${i}`) && byName.get(`${host} #${i}`).until > attempt.from + 1e-6) i++;
            names.push(`${host} #${i}`);
          }
          for (const name of names) {
            const one = lane(name);
            one.bars.push(attempt);
            one.until = Math.max(one.until, to);
          }
        }
        lanes = [...byName.values()].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
        const end = d3.max(lanes, (one) => one.until) || 1;
        x = d3.scaleLinear().domain([0, end]);
        let busy = 0;
        for (const one of lanes) {
          one.busy = 0;
          let last = 0;
          for (const bar of one.bars) {
            one.busy += Math.max(0, bar.to - Math.max(bar.from, last));
            last = Math.max(last, bar.to);
          }
          busy += one.busy;
        }
        foot.textContent = `${muster.plural(lanes.length, "lane")}, busy ${((100 * busy) / Math.max(1e-9, end * lanes.length)).toFixed(0)} % of ${muster.duration(end)}; the rest was idle. The share of each is at the right.`;
        plot.height = MARGIN.top + MARGIN.bottom + lanes.length * LANE;
        plot.fit();
        plot.redraw();
      };

      function draw(context, layer) {
        const theme = muster.theme();
        const bottom = plot.height - MARGIN.bottom;
        x.range([MARGIN.left, plot.width - MARGIN.right]);
        if (layer === "lit") {
          context.strokeStyle = theme.ink;
          context.lineWidth = 2;
          for (const { left, top, width, bar } of places) {
            if (bar.row === state.lit) context.strokeRect(left, top, Math.max(2, width), LANE - 6);
          }
          return;
        }
        places = [];
        muster.drawSeconds(context, x, MARGIN.top, bottom);
        context.textBaseline = "middle";
        lanes.forEach((lane, i) => {
          const top = MARGIN.top + i * LANE + 3;
          context.fillStyle = theme.faint;
          context.globalAlpha = 0.35;
          context.fillRect(MARGIN.left, top, plot.width - MARGIN.right - MARGIN.left, LANE - 6);
          context.globalAlpha = 1;
          context.fillStyle = theme.ink;
          context.textAlign = "right";
          context.fillText(muster.shortened(lane.name, 18), MARGIN.left - 8, top + LANE / 2 - 3);
          context.textAlign = "left";
          context.fillStyle = theme.soft;
          context.fillText(`${((100 * lane.busy) / Math.max(1e-9, x.domain()[1])).toFixed(0)} %`, plot.width - MARGIN.right + 8, top + LANE / 2 - 3);
          for (const bar of lane.bars) {
            const left = x(bar.from);
            const width = Math.max(1, x(bar.to) - left - 0.5);
            context.globalAlpha = state.visible[bar.row] ? 1 : 0.2;
            context.fillStyle = muster.stateColour(bar.class) || "#7a8594";
            context.fillRect(left, top, width, LANE - 6);
            const text = model.column("trial").text(bar.row);
            if (width > context.measureText(text).width + 6) {
              context.fillStyle = "#fff";
              context.fillText(text, left + 3, top + LANE / 2 - 3);
            }
            places.push({ left, top, width, bar });
          }
          context.globalAlpha = 1;
        });
      }

      const at = ([px, py]) => places.find(({ left, top, width }) => px >= left && px <= left + Math.max(3, width) && py >= top && py <= top + LANE - 6);
      plot.box.addEventListener("pointermove", (event) => {
        const found = at(plot.pointer(event));
        state.light(found ? found.bar.row : -1);
        if (!found) return muster.hideTip();
        const { bar } = found;
        muster.showTip(event, [`${muster.rowName(model, bar.row)}, attempt ${bar.attempt + 1}: ${bar.class}`, `${muster.duration(bar.from) || "0 s"} to ${muster.duration(bar.to)}, took ${muster.duration(bar.to - bar.from)}`, bar.host || "this machine", ...muster.rowLines(model, bar.row).slice(1)]);
      });
      plot.box.addEventListener("pointerleave", () => {
        state.light(-1);
        muster.hideTip();
      });
      plot.box.addEventListener("click", (event) => state.pin((at(plot.pointer(event)) || { bar: { row: -1 } }).bar.row));
      // The arrows walk through the attempts by lane and time.
      scroller.addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
        if (step && places.length) {
          const last = places.findIndex(({ bar }) => bar === walked && bar.row === state.lit);
          const next = last < 0 ? (step > 0 ? 0 : places.length - 1) : Math.max(0, Math.min(places.length - 1, last + step));
          walked = places[next].bar;
          state.pinned = false;
          state.light(walked.row);
        } else if (event.key === "Enter") {
          state.pin(state.lit);
        } else {
          return;
        }
        event.preventDefault();
      });
      let later = 0;
      state.on("rows", ({ moving }) => {
        clearTimeout(later);
        if (moving) later = setTimeout(() => plot.redraw(), 250);
        else plot.redraw();
      });
      state.on("lit", () => plot.redraw("lit"));
      state.on("theme", () => plot.redraw());
      state.on("data", arrange);
      arrange();
      return { plots: [plot] };
    },
  });

  // --- failures

  const isFailure = (text) => !["", "ok", "infeasible", "stopped", "paused", "running", "again", "interrupted", "lost"].includes(text);

  // The ended rows by host and by value: {name, value, over, failed}, those with the largest share of failures first.
  const failuresBy = (model, rows) => {
    const state = model.column("state");
    const ended = rows.filter((row) => !["running", "again", "interrupted", "lost", ""].includes(state.text(row)));
    const groups = [];
    const group = (name, label, valuesOf) => {
      const counts = new Map();
      for (const row of ended) {
        for (const value of valuesOf(row)) {
          if (!counts.has(value)) counts.set(value, { name: label, value, over: 0, failed: 0 });
          const one = counts.get(value);
          one.over++;
          if (isFailure(state.text(row))) one.failed++;
        }
      }
      if (counts.size > 1) groups.push(...[...counts.values()].filter((one) => one.failed > 0));
    };
    const hosts = model.column("hosts");
    if (hosts) group("hosts", "host", (row) => hosts.text(row).split(",").filter(Boolean));
    for (const column of model.columns.filter((one) => one.role === "param" && one.varies && one.plottable)) {
      const { names, cell } = muster.cellsOf(column);
      group(column.name, column.label, (row) => (cell(row) >= 0 ? [names[cell(row)]] : []));
    }
    groups.sort((a, b) => b.failed / b.over - a.failed / a.over || b.failed - a.failed);
    return { groups, over: ended.length, failed: ended.filter((row) => isFailure(state.text(row))).length };
  };
  muster.failuresBy = failuresBy;

  // The lines of a list that are shown, and what is said about the others.
  const MOST = 24;
  const more = (count, one, many = `${one}s`) => (count > MOST ? el("p", { class: "hint" }, `and ${muster.count(count - MOST)} more ${count - MOST === 1 ? one : many}`) : "");

  muster.view({
    id: "failures",
    title: "Failures",
    kinds: ["sweep", "compare"],
    when: (model) => model.sources.some((source) => source.kind === "sweep" && (source.counts.failed > 0 || (source.reasons || []).length || (source.quarantined || []).length)),
    build(section, { model, state }) {
      const box = el("div", {});
      section.append(box);
      const fill = () => {
        const { groups, over, failed } = failuresBy(model, state.rows);
        const all = over ? failed / over : 0;
        const lines = groups.filter((one) => one.failed / one.over > all * 1.1);
        const causes = model.sources.flatMap((source) => source.causes || []);
        box.replaceChildren(
          el("p", {}, `${muster.count(failed)} of ${muster.count(over)} ended trials failed (${(100 * all).toFixed(0)} %).`),
          ...model.sources.flatMap((source) => source.findings || []).map((text) => el("p", { class: "finding" }, text)),
          causes.length ? el("ul", { class: "causes" }, causes.slice(0, MOST).map((cause) => el("li", {}, muster.chip(cause.class), ` ${muster.plural(cause.trials, "trial")}, first trial ${cause.first}: `, el("span", { class: "mono" }, cause.why)))) : "",
          more(causes.length, "cause"),
          lines.length ? el("table", { class: "bars", "aria-label": "failures by host and value" },
            el("thead", {}, el("tr", {}, ["host or parameter", "value", "failed", ""].map((text) => el("th", { scope: "col" }, text)))),
            el("tbody", {}, lines.slice(0, MOST).map((one) => {
              const bar = el("div", { class: "measure bad" });
              bar.style.width = `${(100 * one.failed) / one.over}%`;
              return el("tr", {}, el("td", {}, one.name), el("td", {}, one.value), el("td", {}, bar), el("td", { class: "number" }, `${one.failed} of ${one.over}`));
            }))) : "",
          more(lines.length, "host or value", "hosts or values"),
          ...model.sources.flatMap((source) => source.quarantined || []).map((one) => el("p", { class: "why" }, `${one.host} was quarantined: ${one.why}`)),
          ...model.sources.filter((source) => (source.reasons || []).length).map((source) => el("details", { open: failed === 0 }, el("summary", {}, `${muster.plural(source.counts.impossible, "impossible point")}`), el("ul", {}, source.reasons.map((reason) => el("li", {}, `${muster.count(reason.count)}: ${reason.text} `, el("span", { class: "soft" }, reason.place)))))),
        );
      };
      let later = 0;
      state.on("rows", ({ moving }) => {
        clearTimeout(later);
        if (moving) later = setTimeout(fill, 250);
        else fill();
      });
      state.on("data", fill);
      fill();
      return { plots: [] };
    },
  });

  // How the sweep stops trials early, in words; nothing if it does not.
  const ruleOf = (source) => ((source.setup || []).find((one) => one.name === "early stopping") || {}).value;
  const MOST_STOPS = 400;
  muster.view({
    id: "rungs",
    title: "Early stopping",
    kinds: ["sweep", "compare"],
    when: (model) => model.sources.some((source) => (source.rungs || []).length || ruleOf(source)) || (model.column("state") && model.column("state").values.some((text) => text === "stopped" || text === "paused")),
    build(section, page) {
      const fill = () => {
        const { model } = page;
        const blocks = model.sources.filter((source) => (source.rungs || []).length || ruleOf(source)).map((source) => {
          const rungs = source.rungs || [];
          const most = d3.max(rungs, (rung) => rung.trials) || 1;
          return el("div", {},
            model.sources.length > 1 ? el("h3", {}, source.label) : null,
            ruleOf(source) ? el("p", { class: "soft" }, ruleOf(source)) : null,
            !rungs.length ? null : el("table", { class: "bars", "aria-label": "rungs" },
              el("thead", {}, el("tr", {}, ["rung", source.resource, "reached", "", "stopped there", `best ${source.objective ? source.objective.metric : "loss"}`].map((text) => el("th", { scope: "col" }, text)))),
              el("tbody", {}, rungs.map((rung) => {
                const stopped = el("span", { class: "part stopped" });
                const went = el("span", { class: "part went" });
                stopped.style.width = `${(100 * rung.stopped) / most}%`;
                went.style.width = `${(100 * (rung.trials - rung.stopped)) / most}%`;
                return el("tr", {}, el("td", { class: "number" }, rung.rung + 1), el("td", { class: "number" }, muster.number(rung.resource)), el("td", { class: "number" }, rung.trials), el("td", {}, el("div", { class: "stack" }, went, stopped)), el("td", { class: "number" }, rung.stopped), el("td", { class: "number" }, muster.number(rung.best)));
              }))));
        });
        const state = model.column("state");
        const why = model.column("why");
        const stopped = d3.range(model.count).filter((row) => state && ["stopped", "paused"].includes(state.text(row)));
        const how = stopped.some((row) => state.text(row) === "paused") ? "stopped early or paused" : "stopped early";
        const list = stopped.length ? el("details", {}, el("summary", {}, `${muster.plural(stopped.length, "trial")} ${how}, and when`),
          el("ul", { class: "dense" }, stopped.slice(0, MOST_STOPS).map((row) => el("li", {}, `${muster.rowName(model, row)}${why && why.text(row) ? `: ${why.text(row)}` : ""}`))), stopped.length > MOST_STOPS ? el("p", { class: "hint" }, `and ${muster.count(stopped.length - MOST_STOPS)} more`) : "") : el("p", {}, "No trial was stopped early.");
        section.replaceChildren(section.firstChild, ...blocks, list);
      };
      fill();
      page.state.on("data", fill);
      return { plots: [] };
    },
  });
})();
