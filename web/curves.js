// Metrics over steps: a curve for each trial, process or run, with log axes and smoothing.
"use strict";

(() => {
  const MARGIN = { top: 10, right: 16, bottom: 42, left: 66 };

  muster.view({
    id: "curves",
    title: "Curves",
    kinds: ["sweep", "compare", "run"],
    wide: true,
    when: (model) => model.metrics.length > 0,
    build(section, { model, state }) {
      const { address } = muster;
      let metric = model.metrics.includes(address.get("metric")) ? address.get("metric") : model.firstMetric;
      let logX = address.get("logx") === "1";
      let logY = address.get("logy") === "1";
      let smoothing = Math.min(0.99, Math.max(0, Number(address.get("smoothing")) || 0));
      let cut = address.get("outliers") === "ignored";
      let lines = []; // {row, x, y, px, py, bad}
      let x = null;
      let y = null;
      let whole = true; // all steps

      const controls = muster.el("div", { class: "controls" });
      const list = muster.el("div", {});
      const fill = () => {
        list.replaceChildren(muster.select("metric", model.metrics.map((name) => [name, name]), metric, (name) => {
          metric = name;
          address.set("metric", name);
          collect();
        }));
      };
      fill();
      const slider = muster.el("input", { type: "range", min: "0", max: "0.99", step: "0.01", value: String(smoothing), "aria-label": "smoothing" });
      const shown = muster.el("output", {}, String(smoothing));
      slider.addEventListener("input", () => {
        smoothing = Number(slider.value);
        shown.textContent = slider.value;
        address.set("smoothing", smoothing ? slider.value : "");
        collect();
      });
      controls.append(
        list,
        muster.el("label", { class: "field" }, muster.el("span", {}, "smoothing"), slider, shown),
        muster.check("log x", logX, (on) => { logX = on; address.set("logx", on ? "1" : ""); collect(); }),
        muster.check("log y", logY, (on) => { logY = on; address.set("logy", on ? "1" : ""); collect(); }),
        muster.check("ignore outliers", cut, (on) => { cut = on; address.set("outliers", on ? "ignored" : ""); collect(); }),
      );
      section.append(controls);
      const plot = new muster.Plot(section, {
        height: 340,
        layers: ["main", "lit"],
        label: "Curves",
        draw,
        describe: () => `${metric} over ${stepName()}: ${muster.plural(lines.length, "curve")}, ${muster.number(lowY)} to ${muster.number(highY)}${smoothing ? `, smoothed by ${smoothing}` : ""}`,
      });
      const foot = muster.el("p", { class: "hint" });
      section.append(foot);
      let lowY = NaN;
      let highY = NaN;
      const stepName = () => (model.data.curves && model.data.curves.x) || "report";

      function collect() {
        lines = [];
        let lowX = Infinity;
        let highX = -Infinity;
        lowY = Infinity;
        highY = -Infinity;
        whole = true;
        let bad = 0;
        let total = 0;
        let kept = 0;
        const ends = [];
        const curves = model.curves.get(metric) || [];
        for (const row of state.rows) {
          const curve = curves[row];
          if (!curve || curve.x.length === 0) continue;
          const values = muster.smooth(curve.y, smoothing);
          for (let i = 0; i < values.length; i++) {
            const value = values[i];
            const at = curve.x[i];
            if (!Number.isFinite(value) || (logY && value <= 0) || (logX && at <= 0)) continue;
            whole = whole && Number.isInteger(at);
            if (at < lowX) lowX = at;
            if (at > highX) highX = at;
            if (value < lowY) lowY = value;
            if (value > highY) highY = value;
          }
          if (cut) for (let i = 0; i < values.length; i++) if (Number.isFinite(values[i])) ends.push(values[i]);
          bad += curve.bad.length;
          total += curve.total;
          kept += curve.x.length;
          lines.push({ row, x: curve.x, y: values, bad: curve.bad, starts: curve.starts });
        }
        if (cut && ends.length) {
          ends.sort(d3.ascending);
          lowY = d3.quantile(ends, 0.01);
          highY = d3.quantile(ends, 0.95);
        }
        if (!(lowX <= highX)) [lowX, highX] = logX ? [1, 10] : [0, 1];
        if (!(lowY <= highY)) [lowY, highY] = logY ? [1, 10] : [0, 1];
        if (lowX === highX) [lowX, highX] = logX ? [lowX / 2, lowX * 2] : [lowX - 0.5, highX + 0.5];
        if (lowY === highY) [lowY, highY] = logY ? [lowY / 2, highY * 2] : [lowY - 0.5, highY + 0.5];
        x = (logX ? d3.scaleLog() : d3.scaleLinear()).domain([lowX, highX]);
        y = (logY ? d3.scaleLog() : d3.scaleLinear()).domain([lowY, highY]);
        if (!logY) y.nice();
        foot.textContent = [
          kept < total ? `${muster.count(total)} points, shown by the smallest and largest of each interval: ${muster.count(kept)}` : muster.plural(total, "point"),
          bad ? `${muster.plural(bad, "value")} not finite, marked ×` : "",
        ].filter(Boolean).join("; ");
        plot.redraw();
      }

      const place = () => {
        const inner = { left: MARGIN.left, top: MARGIN.top, right: plot.width - MARGIN.right, bottom: plot.height - MARGIN.bottom };
        x.range([inner.left, inner.right]);
        y.range([inner.bottom, inner.top]);
        return inner;
      };
      const DOT = 3; // the radius of the dot that stands for a curve of one point
      const trace = (context, { x: xs, y: ys }) => {
        let down = false;
        let drawn = 0;
        let last = [];
        context.beginPath();
        for (let i = 0; i < xs.length; i++) {
          const value = ys[i];
          if (!Number.isFinite(value) || (logY && value <= 0) || (logX && xs[i] <= 0)) {
            down = false;
            continue;
          }
          const px = x(xs[i]);
          const py = y(value);
          if (down) context.lineTo(px, py);
          else context.moveTo(px, py);
          down = true;
          drawn += 1;
          last = [px, py];
        }
        context.stroke();
        if (drawn !== 1) return;
        context.fillStyle = context.strokeStyle;
        context.beginPath();
        context.arc(...last, DOT, 0, 2 * Math.PI);
        context.fill();
      };
      const clip = (context, inner) => {
        context.save();
        context.beginPath();
        context.rect(inner.left, inner.top, inner.right - inner.left, inner.bottom - inner.top);
        context.clip();
      };
      const marks = (context, line, inner) => {
        for (const at of line.bad) {
          const px = x(at);
          context.beginPath();
          context.moveTo(px - 4, inner.top + 4);
          context.lineTo(px + 4, inner.top + 12);
          context.moveTo(px + 4, inner.top + 4);
          context.lineTo(px - 4, inner.top + 12);
          context.stroke();
        }
        context.setLineDash([3, 3]);
        for (const at of line.starts) {
          context.beginPath();
          context.moveTo(x(at), inner.top);
          context.lineTo(x(at), inner.bottom);
          context.stroke();
        }
        context.setLineDash([]);
      };

      function draw(context, layer) {
        const inner = place();
        if (layer === "main") {
          muster.drawAxes(context, inner, x, y, { xName: stepName(), yName: metric, xWhole: whole });
          clip(context, inner);
          context.lineJoin = "round";
          context.lineWidth = lines.length > 200 ? 0.7 : 1.3;
          context.globalAlpha = lines.length > 200 ? 0.45 : lines.length > 40 ? 0.7 : 1;
          for (const line of lines) {
            context.strokeStyle = state.colours[line.row];
            trace(context, line);
            if (line.bad.length || line.starts.length) marks(context, line, inner);
          }
          context.restore();
          return;
        }
        const lit = lines.find((line) => line.row === state.lit);
        if (!lit) return;
        clip(context, inner);
        context.strokeStyle = muster.theme().panel;
        context.lineWidth = 6;
        trace(context, lit);
        context.strokeStyle = state.colours[lit.row];
        context.lineWidth = 2.8;
        trace(context, lit);
        marks(context, lit, inner);
        context.restore();
      }

      // The curve nearest to the pointer, by its height at that step.
      const nearest = ([px, py]) => {
        if (px < MARGIN.left || px > plot.width - MARGIN.right) return null;
        const step = x.invert(px);
        let found = null;
        let least = 14;
        for (const line of lines) {
          const i = Math.min(line.x.length - 1, Math.max(0, d3.bisectLeft(line.x, step)));
          for (const at of [i - 1, i]) {
            if (at < 0 || !Number.isFinite(line.y[at])) continue;
            const across = Math.abs(x(line.x[at]) - px);
            const distance = Math.abs(y(line.y[at]) - py) + (across > 30 ? across : 0);
            if (distance < least) {
              least = distance;
              found = { row: line.row, step: line.x[at], value: line.y[at] };
            }
          }
        }
        return found;
      };
      plot.box.addEventListener("pointermove", (event) => {
        const found = nearest(plot.pointer(event));
        state.light(found ? found.row : -1);
        if (!found) return muster.hideTip();
        const [name, ...rest] = muster.rowLines(model, found.row);
        muster.showTip(event, [name, `${stepName()} ${muster.number(found.step)}: ${metric} ${muster.number(found.value)}`, ...rest]);
      });
      plot.box.addEventListener("pointerleave", () => {
        state.light(-1);
        muster.hideTip();
      });
      plot.box.addEventListener("click", (event) => {
        const found = nearest(plot.pointer(event));
        state.pin(found ? found.row : -1);
      });

      // While a brush is dragged, the curves follow at its pauses.
      let later = 0;
      state.on("rows", ({ moving }) => {
        clearTimeout(later);
        if (moving) later = setTimeout(collect, 250);
        else collect();
      });
      state.on("lit", () => plot.redraw("lit"));
      for (const event of ["colour", "theme"]) state.on(event, () => plot.redraw());
      state.on("data", () => {
        fill();
        collect();
      });
      collect();
      return { plots: [plot] };
    },
  });
})();
