// What the processes of a run have used over time: processor cores, memory, memory of their devices. A line for each
// process, or the smallest, middle and largest of many.
"use strict";

(() => {
  const { el } = muster;
  const MARGIN = { top: 10, right: 16, bottom: 28, left: 76 };
  const KINDS = [["cores", "CPU cores"], ["memory", "memory, MiB"], ["device", "device memory, MiB"]];

  muster.view({
    id: "usage",
    title: "Resource usage",
    kinds: ["run"],
    wide: true,
    when: (model) => Boolean(model.data.run.usage),
    build(section, { model, state }) {
      let kind = "cores";
      let lines = []; // {name, row, at, values}
      let band = null;
      let x = null;
      let y = null;

      const label = () => KINDS.find(([name]) => name === kind)[1];
      const controls = el("div", { class: "controls" });
      const legend = el("div", { class: "legend" });
      section.append(controls, legend);
      const plot = new muster.Plot(section, {
        height: 240,
        layers: ["main", "lit"],
        label: "Resource usage",
        draw,
        describe: () => (band
          ? `${label()} of ${model.data.run.usage.processes} processes over time: median up to ${muster.number(d3.max(band.median))}, largest ${muster.number(d3.max(band.high))}`
          : `${label()} over time: ${lines.map((line) => `${line.name} up to ${muster.number(d3.max(line.values))}`).join(", ")}`),
      });
      const foot = el("p", { class: "hint" });
      section.append(foot);

      function collect() {
        const { usage } = model.data.run;
        const given = (name) => (usage.bands ? usage.bands[name].at.length > 0 : usage.lines.some((line) => line[name].at.length > 0));
        const kinds = KINDS.filter(([name]) => given(name));
        if (!kinds.some(([name]) => name === kind)) kind = "cores";
        controls.replaceChildren(muster.select("usage", kinds, kind, (name) => {
          kind = name;
          collect();
        }));
        band = usage.bands ? usage.bands[kind] : null;
        lines = band ? [] : usage.lines.map((line) => ({ name: line.name, row: model.rowOf.get(line.key), ...line[kind] }))
          .filter((line) => line.at.length > 0 && state.visible[line.row] !== 0);
        legend.replaceChildren(...lines.map((line) => {
          const dot = el("i", { class: "dot" });
          dot.style.background = muster.category(line.row);
          return el("span", {}, dot, line.name);
        }));
        const high = band ? d3.max(band.high) : d3.max(lines, (line) => d3.max(line.values));
        x = d3.scaleLinear().domain([0, Math.max(1e-3, model.data.run.seconds)]);
        y = d3.scaleLinear().domain([0, high > 0 ? high : 1]).nice();
        foot.textContent = band
          ? `Smallest, median and largest of ${usage.processes} processes, each with its descendants.`
          : "Each process with its descendants.";
        plot.redraw();
      }

      const trace = (context, at, values) => {
        context.beginPath();
        at.forEach((second, i) => context.lineTo(x(second), y(values[i])));
        context.stroke();
        if (at.length === 1) context.fillRect(x(at[0]) - 2, y(values[0]) - 2, 4, 4);
      };

      function draw(context, layer) {
        const theme = muster.theme();
        const inner = { left: MARGIN.left, top: MARGIN.top, right: plot.width - MARGIN.right, bottom: plot.height - MARGIN.bottom };
        x.range([inner.left, inner.right]);
        y.range([inner.bottom, inner.top]);
        context.lineJoin = "round";
        if (layer === "lit") {
          const lit = lines.find((line) => line.row === state.lit);
          if (!lit) return;
          context.strokeStyle = context.fillStyle = theme.accent;
          context.lineWidth = 2.5;
          trace(context, lit.at, lit.values);
          return;
        }
        muster.drawAxes(context, inner, x, y, { xColumn: { numeric: true, few: [] }, yName: label() });
        muster.drawSeconds(context, x, inner.top, inner.bottom);
        context.lineWidth = 1.3;
        if (band) {
          context.fillStyle = theme.accent;
          context.globalAlpha = 0.2;
          context.beginPath();
          band.at.forEach((second, i) => context.lineTo(x(second), y(band.high[i])));
          for (let i = band.at.length - 1; i >= 0; i--) context.lineTo(x(band.at[i]), y(band.low[i]));
          context.fill();
          context.globalAlpha = 1;
          context.strokeStyle = theme.accent;
          trace(context, band.at, band.median);
          return;
        }
        for (const line of lines) {
          context.strokeStyle = context.fillStyle = muster.category(line.row);
          trace(context, line.at, line.values);
        }
      }

      // The values at the time under the pointer, and the line that is nearest to it.
      const at = ([px, py]) => {
        if (px < MARGIN.left || px > plot.width - MARGIN.right) return null;
        const second = x.invert(px);
        if (band) {
          const i = d3.bisectCenter(band.at, second);
          return { row: -1, texts: [muster.duration(band.at[i]), ...["high", "median", "low"].map((name) => `${name} ${muster.number(band[name][i])}`)] };
        }
        let found = null;
        let least = 14;
        for (const line of lines) {
          const i = d3.bisectCenter(line.at, second);
          const distance = Math.hypot(Math.max(0, Math.abs(x(line.at[i]) - px) - 30), y(line.values[i]) - py);
          if (distance < least) {
            least = distance;
            found = { row: line.row, texts: [line.name, `${muster.duration(line.at[i])}: ${label()} ${muster.number(line.values[i])}`] };
          }
        }
        return found;
      };
      plot.box.addEventListener("pointermove", (event) => {
        const found = at(plot.pointer(event));
        state.light(found ? found.row : -1);
        if (found) muster.showTip(event, found.texts);
        else muster.hideTip();
      });
      plot.box.addEventListener("pointerleave", () => {
        state.light(-1);
        muster.hideTip();
      });
      plot.box.addEventListener("click", (event) => {
        const found = at(plot.pointer(event));
        state.pin(found ? found.row : -1);
      });
      state.on("rows", collect);
      state.on("data", collect);
      state.on("lit", () => plot.redraw("lit"));
      state.on("theme", () => plot.redraw());
      collect();
      return { plots: [plot] };
    },
  });
})();
