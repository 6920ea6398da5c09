// A lane for each process of a run: states over time, restarts, checkpoints, dumps and silence. Only the lanes in view
// are drawn, so that thousands stay smooth.
"use strict";

(() => {
  const { el } = muster;
  const LANE = 16;
  const MARGIN = { top: 22, right: 20, bottom: 28, left: 150 };
  const MARKS = { restart: ["▸", "restart"], checkpoint: ["◆", "checkpoint"], dump: ["●", "dump"], silent: ["…", "silent for too long"], signal: ["▾", "signal"], stop: ["■", "stop"], fault: ["▼", "fault of a drill"], origin: ["✕", "first failure"] };

  muster.view({
    id: "lanes",
    title: "Processes over time",
    kinds: ["run"],
    wide: true,
    when: (model) => model.data.run.lanes.length > 0,
    build(section, { model, state }) {
      const legend = el("div", { class: "legend" });
      const scroller = el("div", { class: "lanes tall", tabindex: "0", role: "group", "aria-label": "processes over time" });
      const spacer = el("div", { class: "spacer" });
      scroller.append(spacer);
      section.append(legend, scroller);
      let full = false;
      const plot = new muster.Plot(spacer, {
        height: 200,
        layers: ["main", "lit"],
        label: "Processes over time",
        draw,
        describe: () => {
          const verdicts = new Map();
          for (const lane of model.data.run.lanes) verdicts.set(lane.verdict, (verdicts.get(lane.verdict) || 0) + 1);
          return `Processes over time: ${[...verdicts].map(([name, n]) => `${n} ${name}`).join(", ")}`;
        },
      });
      let x = null;

      const arrange = () => {
        const { run } = model.data;
        const all = MARGIN.top + MARGIN.bottom + run.lanes.length * LANE;
        const height = full ? all : Math.min(all, 440);
        spacer.style.height = `${all}px`;
        scroller.style.height = `${height + 2}px`;
        plot.height = height;
        plot.box.classList.toggle("sticky", all > height);
        plot.fit();
        const kinds = new Set([...run.lanes.flatMap((lane) => lane.spans.map((span) => span.state))]);
        const marks = new Set([...run.marks, ...run.lanes.flatMap((lane) => lane.marks)].map((mark) => mark.kind));
        legend.replaceChildren(
          ...[...kinds].map((kind) => {
            const dot = el("i", { class: "dot" });
            dot.style.background = muster.stateColour(kind) || "#7a8594";
            return el("span", {}, dot, kind.replaceAll("_", " "));
          }),
          ...(run.lanes.some((lane) => (lane.silences || []).length) ? [el("span", {}, "─ no output")] : []),
          ...[...marks].filter((kind) => MARKS[kind]).map((kind) => el("span", {}, `${MARKS[kind][0]} ${MARKS[kind][1]}`)));
        plot.redraw();
      };

      function draw(context, layer) {
        const theme = muster.theme();
        const { run } = model.data;
        const scroll = full ? 0 : scroller.scrollTop;
        const bottom = plot.height - MARGIN.bottom;
        x = d3.scaleLinear().domain([0, Math.max(1e-3, run.seconds)]).range([MARGIN.left, plot.width - MARGIN.right]);
        const y = (i) => MARGIN.top + i * LANE - scroll;
        const first = Math.max(0, Math.floor(scroll / LANE));
        const last = Math.min(run.lanes.length, Math.ceil((scroll + bottom - MARGIN.top) / LANE) + 1);
        context.save();
        context.beginPath();
        context.rect(0, MARGIN.top - 1, plot.width, bottom - MARGIN.top + 2);
        context.clip();
        if (layer === "lit") {
          if (state.lit >= first && state.lit < last) {
            context.strokeStyle = theme.accent;
            context.lineWidth = 2;
            context.strokeRect(2, y(state.lit) + 0.5, plot.width - 4, LANE - 1);
          }
          context.restore();
          return;
        }
        context.restore();
        muster.drawSeconds(context, x, MARGIN.top, bottom);
        context.textBaseline = "top";
        context.textAlign = "left";
        for (const phase of run.phases) {
          const left = x(phase.from);
          context.strokeStyle = theme.soft;
          context.setLineDash([2, 3]);
          context.beginPath();
          context.moveTo(left, 4);
          context.lineTo(left, bottom);
          context.stroke();
          context.setLineDash([]);
          context.fillStyle = theme.soft;
          if (x(phase.to) - left > context.measureText(phase.name).width + 6) context.fillText(phase.name, left + 4, 5);
        }
        context.save();
        context.beginPath();
        context.rect(0, MARGIN.top - 1, plot.width, bottom - MARGIN.top + 2);
        context.clip();
        context.textBaseline = "middle";
        for (let i = first; i < last; i++) {
          const lane = run.lanes[i];
          const top = y(i);
          context.globalAlpha = state.visible[i] === 0 ? 0.25 : 1;
          context.fillStyle = lane.verdict === "origin" ? muster.stateColour("crash") : theme.ink;
          context.textAlign = "right";
          context.font = lane.verdict === "origin" ? "bold 11px system-ui, sans-serif" : "11px system-ui, sans-serif";
          context.fillText(muster.shortened(lane.name + (lane.rank === null ? "" : `  rank ${lane.rank}`), 24), MARGIN.left - 8, top + LANE / 2);
          for (const span of lane.spans) {
            context.fillStyle = muster.stateColour(span.state) || "#7a8594";
            context.fillRect(x(span.from), top + 2, Math.max(1, x(span.to) - x(span.from)), LANE - 4);
          }
          // Silence: a line through the middle of the lane.
          context.fillStyle = theme.panel;
          for (const silence of lane.silences || []) context.fillRect(x(silence.from), top + LANE / 2 - 1, Math.max(1, x(silence.to) - x(silence.from)), 2);
          context.textAlign = "center";
          context.font = "11px system-ui, sans-serif";
          for (const mark of lane.marks) {
            context.fillStyle = theme.ink;
            if (MARKS[mark.kind]) context.fillText(MARKS[mark.kind][0], x(mark.at), top + LANE / 2);
          }
        }
        context.globalAlpha = 1;
        for (const mark of run.marks) {
          context.strokeStyle = mark.kind === "checkpoint" ? theme.accent : theme.ink;
          context.beginPath();
          context.moveTo(x(mark.at), MARGIN.top);
          context.lineTo(x(mark.at), bottom);
          context.stroke();
        }
        context.restore();
        context.textAlign = "center";
        context.fillStyle = theme.ink;
        for (const mark of run.marks) if (MARKS[mark.kind]) context.fillText(MARKS[mark.kind][0], x(mark.at), MARGIN.top - 6);
      }

      const laneAt = ([, py]) => {
        const i = Math.floor((py - MARGIN.top + (full ? 0 : scroller.scrollTop)) / LANE);
        return py >= MARGIN.top && py <= plot.height - MARGIN.bottom && i >= 0 && i < model.data.run.lanes.length ? i : -1;
      };
      plot.box.addEventListener("pointermove", (event) => {
        const at = plot.pointer(event);
        const i = laneAt(at);
        state.light(i);
        if (i < 0) return muster.hideTip();
        const lane = model.data.run.lanes[i];
        const second = x.invert(at[0]);
        const span = lane.spans.find((one) => second >= one.from && second <= one.to);
        const near = [...lane.marks, ...model.data.run.marks].filter((mark) => Math.abs(x(mark.at) - at[0]) < 6);
        muster.showTip(event, [
          lane.name + (lane.rank === null ? "" : `, rank ${lane.rank}`) + ` on ${lane.host || "this machine"}: ${lane.verdict}`,
          ...(lane.devices.length ? [`devices ${lane.devices.join(", ")}`] : []),
          ...(span ? [`${span.state.replaceAll("_", " ")}, attempt ${span.attempt + 1}, ${muster.duration(span.from) || "0 s"} to ${muster.duration(span.to)}`, ...(span.text ? [span.text] : [])] : []),
          ...(lane.silences || []).filter((one) => second >= one.from && second <= one.to).map((one) => `no output for ${muster.duration(one.to - one.from)}`),
          ...near.map((mark) => `${(MARKS[mark.kind] || ["", mark.kind])[1]} at ${muster.duration(mark.at)}${mark.text ? `: ${mark.text}` : ""}`),
        ]);
      });
      plot.box.addEventListener("pointerleave", () => {
        state.light(-1);
        muster.hideTip();
      });
      plot.box.addEventListener("click", (event) => state.pin(laneAt(plot.pointer(event))));
      scroller.addEventListener("scroll", () => plot.redraw());
      scroller.addEventListener("keydown", (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const row = Math.max(0, Math.min(model.data.run.lanes.length - 1, state.lit + step));
        state.pinned = false;
        state.light(row);
        const top = row * LANE;
        const room = plot.height - MARGIN.top - MARGIN.bottom - LANE;
        if (top < scroller.scrollTop) scroller.scrollTop = top;
        if (top > scroller.scrollTop + room) scroller.scrollTop = top - room;
      });
      state.on("lit", () => plot.redraw("lit"));
      for (const event of ["rows", "theme"]) state.on(event, () => plot.redraw());
      state.on("data", arrange);
      arrange();
      return {
        plots: [],
        forPrint(printing) {
          full = printing && model.data.run.lanes.length <= 1000;
          arrange();
          plot.forPrint(printing);
        },
      };
    },
  });
})();
