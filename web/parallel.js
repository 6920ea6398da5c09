// Parallel coordinates: one line per trial over its parameters and its result, with a brush on every axis, by pointer
// and by keyboard. Thousands of lines are drawn as pixels, few ones as paths.
"use strict";

(() => {
  const MARGIN = { top: 44, bottom: 36, left: 60, right: 60 };
  const NONE = 12; // from the bottom: the place of rows without a value on an axis
  const MOST_PATHS = 250;
  const END = 44; // pixels beside the first and the last axis for their titles
  const LINE = 13; // pixels between two texts
  const MOST_AXES = 12;
  const FRAME = 8; // ms for drawing lines while a brush moves

  muster.view({
    id: "parallel",
    title: "Parallel coordinates",
    kinds: ["sweep", "compare"],
    wide: true,
    when: (model) => model.count > 1 && model.axes().length > 1,
    build(section, { model, state }) {
      let axes = [];
      let scales = [];
      let places = [];
      let points = [];
      let moving = false;
      let bundle = null; // the lines of this size of the plot, in the colours of now
      const logs = muster.el("div", { class: "controls" });
      section.append(logs);
      const fill = () => logs.replaceChildren(...model.axes().filter((axis) => axis.role !== "param").map((axis) => muster.logCheck(state, axis)));
      fill();
      const missing = muster.el("p", { class: "hint" });
      const note = muster.el("p", { class: "hint" }, "Drag along an axis to select a range. By keyboard: focus an axis, Enter starts a range, arrows move it, Shift and arrows resize it, Delete removes it.");
      const plot = new muster.Plot(section, {
        height: 360,
        layers: ["dim", "lines", "lit"],
        label: "Parallel coordinates",
        draw,
        describe: () => `Parallel coordinates of ${axes.length} columns, ${state.rows.length} of ${model.count} rows selected`,
      });
      plot.box.setAttribute("role", "group");
      section.append(missing, note);
      const controls = [];

      const layout = () => {
        const all = model.axes();
        axes = all.length > MOST_AXES ? [...all.slice(0, MOST_AXES - 1), all[all.length - 1]] : all;
        tellMissing();
        const inner = plot.width - MARGIN.left - MARGIN.right;
        places = axes.map((_, i) => MARGIN.left + (inner * i) / Math.max(1, axes.length - 1));
        scales = axes.map((axis) => axis.axis([plot.height - MARGIN.bottom, MARGIN.top]));
        points = axes.map((axis, i) => Float32Array.from(axis.numbers, (number) => {
          const y = Number.isFinite(number) ? scales[i](number) : NaN;
          return Number.isFinite(y) ? y : plot.height - NONE;
        }));
        while (controls.length > axes.length) controls.pop().remove();
        axes.forEach((axis, i) => {
          if (!controls[i]) controls.push(control(i));
          const element = controls[i];
          element.style.left = `${places[i] - 14}px`;
          element.style.height = `${plot.height - MARGIN.top - MARGIN.bottom + 16}px`;
          element.style.top = `${MARGIN.top - 8}px`;
        });
        showBrushes();
      };

      const tellMissing = () => {
        const others = model.columns.filter((column) => column.role === "param" && column.varies && !axes.includes(column));
        missing.textContent = [...axes.map((axis) => muster.notAbove(axis, state.rows)),
          others.length ? `and ${muster.plural(others.length, "more parameter")} without an axis: ${muster.listed(others.map((column) => column.label), 8)}` : ""].filter(Boolean).join("; ");
      };

      const path = (context, row) => {
        context.beginPath();
        for (let i = 0; i < axes.length; i++) context[i === 0 ? "moveTo" : "lineTo"](places[i], points[i][row]);
        context.stroke();
      };

      // The line of a row in the pixels of the canvas.
      const trace = (row, segment) => {
        const { scale } = plot;
        for (let i = 0; i + 1 < axes.length; i++) {
          segment(places[i] * scale, points[i][row] * scale, places[i + 1] * scale, points[i + 1][row] * scale);
        }
      };
      const lines = (context, colours) => new muster.PixelLines(context, model.count, colours, trace);

      const best = () => {
        if (!model.objective) return [...state.rows];
        const { numbers } = model.objective;
        const sign = model.maximize ? -1 : 1;
        return [...state.rows].sort((a, b) => sign * (numbers[a] - numbers[b]));
      };

      function draw(context, layer) {
        if (layer === "dim") {
          layout();
          const theme = muster.theme();
          bundle = null;
          if (model.count > MOST_PATHS) {
            const { r, g, b } = d3.rgb(theme.faint);
            lines(context, new Uint32Array(model.count).fill((b << 16) | (g << 8) | r)).show(new Uint8Array(model.count).fill(1));
          } else {
            context.strokeStyle = theme.faint;
            for (let row = 0; row < model.count; row++) path(context, row);
          }
        } else if (layer === "lines") {
          const { rows } = state;
          if (rows.length > MOST_PATHS) {
            if (!bundle || bundle.colours !== state.pixels) bundle = lines(context, state.pixels);
            // While a brush is dragged, as many lines as fit into a frame; the others follow in the next ones.
            if (!bundle.show(state.visible, moving ? FRAME : Infinity)) plot.redraw("lines");
          } else {
            context.globalAlpha = rows.length > 60 ? 0.65 : 0.85;
            context.lineWidth = 1.3;
            for (const row of best().reverse()) {
              context.strokeStyle = state.colours[row];
              path(context, row);
            }
            context.globalAlpha = 1;
          }
        } else {
          drawLit(context);
        }
      }

      const drawLit = (context) => {
        const theme = muster.theme();
        if (state.lit >= 0) {
          context.strokeStyle = theme.panel;
          context.lineWidth = 6;
          path(context, state.lit);
          context.strokeStyle = state.colours[state.lit];
          context.lineWidth = 3;
          path(context, state.lit);
        }
        context.lineWidth = 1;
        axes.forEach((axis, i) => {
          const x = Math.round(places[i]) + 0.5;
          context.strokeStyle = theme.soft;
          context.beginPath();
          context.moveTo(x, MARGIN.top);
          context.lineTo(x, plot.height - MARGIN.bottom);
          context.stroke();
          context.textBaseline = "middle";
          context.textAlign = i + 1 === axes.length ? "left" : "right";
          const side = i + 1 === axes.length ? 7 : -7;
          const below = axis.logarithmic && axis.low <= 0;
          const none = axis.given < model.count || below ? [[plot.height - NONE, below ? "≤ 0" : "none"]] : [];
          let last = Infinity;
          for (const [y, text] of [...none, ...muster.ticksOf(scales[i], axis, 32)]) {
            if (!text || Math.abs(y - last) < LINE) continue;
            last = y;
            context.beginPath();
            context.moveTo(x - 3, y);
            context.lineTo(x + 3, y);
            context.stroke();
            const room = i === 0 || i + 1 === axes.length ? END + 8 : Math.max(END + 8, Math.min(140, (places[1] - places[0]) / 2));
            const short = axis.numeric ? text : muster.fitted(context, text, room, axis);
            const width = context.measureText(short).width;
            context.fillStyle = theme.panel;
            context.globalAlpha = 0.75;
            context.fillRect(i + 1 === axes.length ? x + 6 : x - 8 - width, y - 7, width + 2, 14);
            context.globalAlpha = 1;
            context.fillStyle = theme.soft;
            context.fillText(short, x + side, y);
          }
          context.fillStyle = theme.ink;
          context.textAlign = i === 0 ? "left" : i + 1 === axes.length ? "right" : "center";
          context.font = axis.name === "value" ? "bold 12px system-ui, sans-serif" : "12px system-ui, sans-serif";
          // As wide as the distance of two titles in a row; the first and the last one begin at the margin.
          const spacing = (places[1] - places[0]) * (axes.length > 8 ? 2 : 1);
          const end = i === 0 || i + 1 === axes.length;
          const title = muster.fitted(context, axis.label, Math.max(40, end ? END + spacing / 2 - 6 : spacing - 12));
          context.fillText(title, i === 0 ? x - END : i + 1 === axes.length ? x + END : x, i % 2 && axes.length > 8 ? 12 : 26);
          context.font = "12px system-ui, sans-serif";
        });
      };

      // --- brushes

      const rangeOf = (i, top, bottom) => {
        const axis = axes[i];
        if (!axis.numeric) {
          const codes = axis.choices.map((_, code) => code).filter((code) => scales[i](code) >= top && scales[i](code) <= bottom);
          return codes.length ? { low: codes[0], high: codes[codes.length - 1] } : { low: -1, high: -1 };
        }
        const ends = [scales[i].invert(bottom), scales[i].invert(top)];
        return { low: Math.min(...ends), high: Math.max(...ends) };
      };
      const pixelsOf = (i) => {
        const { low, high } = state.brushes.get(axes[i].name);
        if (!axes[i].numeric) {
          const half = scales[i].step() / 2;
          return [scales[i](Math.max(0, high)) - half, scales[i](Math.max(0, low)) + half];
        }
        return [scales[i](high), scales[i](low)];
      };
      const textOf = (axis) => {
        const brush = state.brushes.get(axis.name);
        if (!brush) return "all values";
        if (!axis.numeric) return axis.choices.slice(Math.max(0, brush.low), brush.high + 1).join(", ") || "none";
        return `${muster.number(brush.low)} to ${muster.number(brush.high)}`;
      };

      const showBrushes = () => {
        axes.forEach((axis, i) => {
          const element = controls[i];
          const bar = element.firstChild;
          element.setAttribute("aria-label", `Range of ${axis.label}`);
          element.setAttribute("aria-valuetext", textOf(axis));
          const [least, most] = axis.numeric ? axis.extent() : [0, axis.choices.length - 1];
          const brush = state.brushes.get(axis.name);
          element.setAttribute("aria-valuemin", least);
          element.setAttribute("aria-valuemax", most);
          element.setAttribute("aria-valuenow", brush ? Math.max(brush.low, least) : least);
          bar.style.display = brush ? "block" : "none";
          if (!brush) return;
          const [top, bottom] = pixelsOf(i);
          bar.style.top = `${top - MARGIN.top + 8}px`;
          bar.style.height = `${Math.max(2, bottom - top)}px`;
        });
      };

      // Moves both ends by keys, or only the upper one; steps of a twentieth of the axis, or one choice.
      const byKey = (i, event) => {
        const axis = axes[i];
        const range = axis.numeric ? [MARGIN.top, plot.height - MARGIN.bottom] : [0, axis.choices.length - 1];
        const brush = state.brushes.get(axis.name);
        const up = event.key === "ArrowUp" || event.key === "ArrowRight";
        const down = event.key === "ArrowDown" || event.key === "ArrowLeft";
        if (event.key === "Delete" || event.key === "Backspace" || event.key === "Escape") {
          state.setBrush(axis.name, null);
        } else if (event.key === "Enter" || event.key === " " || ((up || down) && !brush)) {
          const middle = axis.numeric ? rangeOf(i, (range[0] * 2 + range[1]) / 3, (range[0] + range[1] * 2) / 3) : { low: 0, high: 0 };
          state.setBrush(axis.name, middle);
        } else if (up || down) {
          if (!axis.numeric) {
            const step = up ? 1 : -1;
            const high = Math.min(range[1], Math.max(0, brush.high + step));
            const low = event.shiftKey ? Math.min(brush.low, high) : Math.min(range[1], Math.max(0, brush.low + step));
            state.setBrush(axis.name, { low: Math.min(low, high), high });
          } else {
            const step = ((range[1] - range[0]) / 20) * (up ? -1 : 1);
            let [top, bottom] = pixelsOf(i);
            top = Math.max(range[0], Math.min(range[1], top + step));
            if (!event.shiftKey) bottom = Math.max(range[0], Math.min(range[1], bottom + step));
            const moved = rangeOf(i, Math.min(top, bottom), bottom);
            state.setBrush(axis.name, event.shiftKey ? { ...moved, low: brush.low } : moved);
          }
        } else {
          return;
        }
        event.preventDefault();
      };

      const control = (i) => {
        const element = muster.el("div", { class: "axis", role: "slider", tabindex: "0", "data-axis": String(i), "aria-orientation": "vertical" }, muster.el("div", { class: "brush" }));
        element.addEventListener("keydown", (event) => byKey(i, event));
        element.addEventListener("pointerdown", (event) => {
          const start = plot.pointer(event)[1];
          const old = state.brushes.has(axes[i].name) ? pixelsOf(i) : null;
          const inside = old && start > old[0] && start < old[1];
          let moved = false;
          element.setPointerCapture(event.pointerId);
          const at = (move) => {
            const y = Math.max(MARGIN.top, Math.min(plot.height - MARGIN.bottom, plot.pointer(move)[1]));
            moved = moved || Math.abs(y - start) > 3;
            if (!moved) return;
            const [top, bottom] = inside ? [old[0] + y - start, old[1] + y - start] : [Math.min(start, y), Math.max(start, y)];
            state.setBrush(axes[i].name, rangeOf(i, top, bottom), move.type === "pointermove");
          };
          const end = (up) => {
            element.removeEventListener("pointermove", at);
            element.removeEventListener("pointerup", end);
            if (moved) at(up);
            else state.setBrush(axes[i].name, null);
          };
          element.addEventListener("pointermove", at);
          element.addEventListener("pointerup", end);
        });
        plot.box.append(element);
        return element;
      };

      // --- the nearest line

      const nearest = ([x, y]) => {
        let i = 0;
        while (i + 2 < places.length && places[i + 1] < x) i++;
        if (places.length < 2 || x < places[0] || x > places[places.length - 1]) return -1;
        const part = (x - places[i]) / (places[i + 1] - places[i]);
        let found = -1;
        let least = 8;
        for (const row of state.rows) {
          const distance = Math.abs(points[i][row] * (1 - part) + points[i + 1][row] * part - y);
          if (distance < least) [found, least] = [row, distance];
        }
        return found;
      };
      plot.box.addEventListener("pointermove", (event) => {
        if (event.buttons) return;
        const row = nearest(plot.pointer(event));
        state.light(row);
        if (row >= 0) muster.showTip(event, muster.rowLines(model, row));
        else muster.hideTip();
      });
      plot.box.addEventListener("pointerleave", () => {
        state.light(-1);
        muster.hideTip();
      });
      plot.box.addEventListener("click", (event) => {
        if (!event.target.closest(".axis")) state.pin(nearest(plot.pointer(event)));
      });

      state.on("rows", (detail) => {
        moving = Boolean(detail.moving);
        showBrushes();
        if (!moving) tellMissing();
        plot.redraw("lines");
      });
      state.on("lit", () => plot.redraw("lit"));
      state.on("colour", () => plot.redraw("lines", "lit"));
      state.on("scale", () => {
        fill();
        plot.redraw();
      });
      for (const event of ["data", "theme"]) state.on(event, () => plot.redraw());
      return { plots: [plot] };
    },
  });
})();
