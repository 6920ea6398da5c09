// Metrics over steps: a curve for each trial, process or run, or the means of groups of them, with log axes and smoothing.
"use strict";

(() => {
  const MARGIN = { top: 10, right: 16, bottom: 42, left: 76 };

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
      let lines = []; // {row, rows, x, y, bad, starts}; of a group also {name, deviation, n}
      let x = null;
      let y = null;
      let whole = true; // all steps

      const controls = muster.el("div", { class: "controls" });
      const list = muster.el("div", {});
      const means = muster.el("div", {});
      const fill = () => {
        means.replaceChildren(model.kind === "run" ? "" : muster.meanOver({ model, state }));
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
        means,
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
        describe: () => `${metric} over ${stepName()}: ${lines.some((line) => line.n) ? `${muster.plural(lines.length, "mean")} over ${model.column(state.meanOver).label}` : muster.plural(lines.length, "curve")}, ${muster.number(lowY)} to ${muster.number(highY)}${smoothing ? `, smoothed by ${smoothing}` : ""}`,
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
        const single = new Map(); // by row
        for (const row of state.rows) {
          const curve = curves[row];
          if (!curve || curve.x.length + curve.bad.length === 0) continue;
          bad += curve.badTotal;
          total += curve.total;
          kept += curve.x.length;
          single.set(row, { row, rows: [row], x: curve.x, y: muster.smooth(curve.y, smoothing, curve), bad: curve.bad, starts: curve.starts });
        }
        if (state.meanOver) {
          for (const { rows, name } of muster.groupsOf(model, [...single.keys()], state.meanOver)) {
            const members = rows.map((row) => single.get(row));
            if (rows.length === 1) {
              lines.push({ ...members[0], name });
              continue;
            }
            const mean = muster.meanCurve(smoothing ? members : rows.map((row) => muster.levelled(curves[row])));
            const marks = (of) => [...new Set(members.flatMap(of))];
            lines.push({ ...mean, name, rows, row: middle(rows), bad: marks((one) => one.bad), starts: marks((one) => one.starts) });
          }
        } else {
          lines = [...single.values()];
        }
        const reach = (at, value) => {
          if (at < lowX) lowX = at;
          if (at > highX) highX = at;
          if (value < lowY) lowY = value;
          if (value > highY) highY = value;
        };
        for (const { x: xs, y: ys, bad: marks, deviation } of lines) {
          for (let i = 0; i < ys.length; i++) {
            const value = ys[i];
            const at = xs[i];
            if (!Number.isFinite(value) || (logY && value <= 0) || (logX && at <= 0)) continue;
            whole = whole && Number.isInteger(at);
            reach(at, value);
            const off = deviation ? deviation[i] : NaN;
            if (!(off > 0)) continue;
            reach(at, value + off);
            if (!logY || value > off) reach(at, value - off);
          }
          for (const at of marks) if (!logX || at > 0) reach(at, NaN);
          if (cut) for (let i = 0; i < ys.length; i++) if (Number.isFinite(ys[i])) ends.push(ys[i]);
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
        const groups = lines.filter((line) => line.n);
        const sizes = d3.extent(groups, (line) => line.rows.length);
        const omitted = (model.data.curves || {}).metrics_left_out || 0;
        foot.textContent = [
          groups.length ? `means over ${model.column(state.meanOver).label} of ${sizes[0] === sizes[1] ? sizes[0] : `${sizes[0]} to ${sizes[1]}`} curves, the band is ± their standard deviation` : "",
          state.meanOver && lines.length > groups.length ? `${muster.plural(lines.length - groups.length, "curve")} without others` : "",
          kept < total ? `${muster.count(total)} points, shown by the smallest and largest of each interval: ${muster.count(kept)}` : muster.plural(total, "point"),
          bad ? `${muster.plural(bad, "value")} not finite, marked ×` : "",
          (model.data.run || {}).without_curves ? `and ${muster.plural(model.data.run.without_curves, "more process").replace("processs", "processes")} with metrics that the page has no room for` : "",
          omitted ? `and ${muster.plural(omitted, "more metric")} that the page has no room for` : "",
        ].filter(Boolean).join("; ");
        // An empty frame would say nothing.
        plot.box.style.display = lines.length ? "" : "none";
        if (!lines.length) foot.textContent = `no ${metric} was reported${state.rows.length < model.count ? " by the rows that are shown" : ""}`;
        plot.redraw();
      }

      // The member of a group whose colour it has: by the value that colours stand for, the middle one.
      const middle = (rows) => {
        const { numbers = [] } = model.column(state.colourBy) || {};
        return [...rows].sort((a, b) => numbers[a] - numbers[b] || a - b)[(rows.length - 1) >> 1];
      };

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
      // The deviation of a group, wherever it has one.
      const band = (context, { x: xs, y: ys, deviation }) => {
        const part = [];
        const fill = () => {
          if (part.length > 1) {
            context.beginPath();
            for (const [px, , py] of part) context.lineTo(px, py);
            for (const [px, py] of part.reverse()) context.lineTo(px, py);
            context.fill();
          }
          part.length = 0;
        };
        for (let i = 0; i < ys.length; i++) {
          const off = deviation[i];
          if (!Number.isFinite(off) || (logX && xs[i] <= 0) || (logY && ys[i] <= 0)) fill();
          else part.push([x(xs[i]), logY && ys[i] <= off ? y.range()[0] : y(ys[i] - off), y(ys[i] + off)]);
        }
        fill();
      };
      const clip = (context, inner) => {
        context.save();
        context.beginPath();
        context.rect(inner.left, inner.top, inner.right - inner.left, inner.bottom - inner.top);
        context.clip();
      };
      const marks = (context, line, inner) => {
        for (const at of line.bad) {
          if (logX && at <= 0) continue;
          const px = Math.max(inner.left + 6, Math.min(inner.right - 6, x(at))); // inside of the frame at the last step, too
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
          const { globalAlpha } = context;
          context.globalAlpha = 0.18;
          for (const line of lines) {
            context.fillStyle = state.colours[line.row];
            if (line.n) band(context, line);
          }
          context.globalAlpha = globalAlpha;
          for (const line of lines) {
            context.strokeStyle = state.colours[line.row];
            trace(context, line);
            if (line.bad.length || line.starts.length) marks(context, line, inner);
          }
          context.restore();
          return;
        }
        const lit = lines.find((line) => line.rows.includes(state.lit));
        if (!lit) return;
        clip(context, inner);
        context.strokeStyle = muster.theme().panel;
        context.lineWidth = 6;
        trace(context, lit);
        context.strokeStyle = context.fillStyle = state.colours[lit.row];
        if (lit.n) {
          context.globalAlpha = 0.3;
          band(context, lit);
          context.globalAlpha = 1;
        }
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
              found = { line, at, row: line.row, step: line.x[at], value: line.y[at] };
            }
          }
        }
        return found;
      };
      plot.box.addEventListener("pointermove", (event) => {
        const found = nearest(plot.pointer(event));
        state.light(found ? found.row : -1);
        if (!found) return muster.hideTip();
        if (found.line.n) {
          const { line, at } = found;
          const n = line.n[at];
          muster.showTip(event, [line.name, `${stepName()} ${muster.number(found.step)}: ${metric} ${muster.meanText({ n, mean: found.value, deviation: line.deviation[at] })}`,
            `${muster.plural(n, "curve")} of ${line.rows.length}`, muster.listed(line.rows.map((row) => muster.rowName(model, row)), 8)]);
          return;
        }
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
      state.on("mean", () => {
        fill();
        collect();
      });
      state.on("lit", () => plot.redraw("lit"));
      state.on("theme", () => plot.redraw());
      state.on("colour", () => {
        for (const line of lines) if (line.n) line.row = middle(line.rows);
        plot.redraw();
      });
      state.on("data", () => {
        fill();
        collect();
      });
      collect();
      return { plots: [plot] };
    },
  });
})();
