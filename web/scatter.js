// Any two columns against each other, coloured by a third; and the mean or best result over two columns as a heat map.
"use strict";

(() => {
  const MARGIN = { top: 10, right: 16, bottom: 42, left: 76 };
  const innerOf = (plot) => ({ left: MARGIN.left, top: MARGIN.top, right: plot.width - MARGIN.right, bottom: plot.height - MARGIN.bottom });
  const choices = (model) => model.plottable().map((column) => [column.name, column.label]);

  muster.view({
    id: "scatter",
    title: "Scatter",
    kinds: ["sweep", "compare"],
    when: (model) => model.count > 2 && model.axes().length > 1,
    build(section, { model, state }) {
      const axes = model.axes();
      const kept = (name, first) => (model.column(muster.address.get(name)) || first).name;
      // Of a sweep with two objectives these, with its Pareto front.
      const second = model.secondObjective;
      let across = kept("x", second ? model.objective : axes[0]);
      let up = kept("y", second || axes[axes.length - 1]);
      let places = [];
      const controls = muster.el("div", { class: "controls" });
      const foot = muster.el("p", { class: "hint" });
      const choose = (axis, name) => {
        if (axis === "x") across = name;
        else up = name;
        muster.address.set(axis, name);
        fill();
        plot.redraw();
      };
      const fill = () => controls.replaceChildren(
        muster.select("x", choices(model), across, (name) => choose("x", name)),
        muster.select("y", choices(model), up, (name) => choose("y", name)),
        muster.select("colour", choices(model), state.colourBy, (name) => state.setColour(name)),
        ...[...new Set([across, up])].map((name) => muster.logCheck(state, model.column(name))),
      );
      fill();
      section.append(controls);
      const plot = new muster.Plot(section, {
        height: 320,
        layers: ["main", "lit"],
        label: "Scatter",
        draw,
        describe: () => `${model.column(up).label} over ${model.column(across).label}, ${muster.plural(state.rows.length, "point")}`,
      });

      section.append(foot);
      const tellMissing = (xColumn, yColumn) => {
        const without = d3.sum(state.rows, (row) => Number.isNaN(xColumn.number(row)) || Number.isNaN(yColumn.number(row)));
        foot.textContent = [muster.plural(places.length, "point"), without ? `${muster.count(without)} without a value` : "",
          ...[...new Set([xColumn, yColumn])].map((column) => muster.notAbove(column, state.rows))].filter(Boolean).join("; ");
      };

      function draw(context, layer) {
        const inner = innerOf(plot);
        const [xColumn, yColumn] = [model.column(across), model.column(up)];
        const x = xColumn.axis([inner.left + 8, inner.right - 8]);
        const y = yColumn.axis([inner.bottom - 8, inner.top + 8]);
        // Points of the same choice are spread out, always in the same way.
        const spread = (column, scale, row) => (column.numeric ? 0 : (((row * 2654435761) % 1000) / 1000 - 0.5) * Math.min(30, scale.step() * 0.5));
        const at = (row) => [
          x(xColumn.number(row)) + spread(xColumn, x, row),
          y(yColumn.number(row)) + spread(yColumn, y, row),
        ];
        if (layer === "main") {
          muster.drawAxes(context, inner, x, y, { xColumn, yColumn, xName: xColumn.label, yName: yColumn.label });
          places = [];
          context.globalAlpha = state.rows.length > 500 ? 0.6 : 0.85;
          const radius = state.rows.length > 1000 ? 2.2 : 3.5;
          for (const row of state.rows) {
            const [px, py] = at(row);
            if (!Number.isFinite(px) || !Number.isFinite(py)) continue;
            places.push([px, py, row]);
            context.fillStyle = state.colours[row];
            context.beginPath();
            context.arc(px, py, radius, 0, 2 * Math.PI);
            context.fill();
          }
          context.globalAlpha = 1;
          if (second && across === model.objective.name && up === second.name) drawFront(context, x, y);
          tellMissing(xColumn, yColumn);
        } else if (state.lit >= 0) {
          const [px, py] = at(state.lit);
          if (!Number.isFinite(px) || !Number.isFinite(py)) return;
          context.fillStyle = state.colours[state.lit];
          context.strokeStyle = muster.theme().ink;
          context.lineWidth = 2;
          context.beginPath();
          context.arc(px, py, 7, 0, 2 * Math.PI);
          context.fill();
          context.stroke();
        }
      }

      // What the results dominate ends at this line of steps.
      function drawFront(context, x, y) {
        const front = model.front(state.rows);
        context.strokeStyle = muster.theme().ink;
        context.lineWidth = 1.5;
        context.beginPath();
        front.forEach((row, i) => {
          const [px, py] = [x(model.objective.number(row)), y(second.number(row))];
          if (i === 0) context.moveTo(px, py);
          else {
            context.lineTo(px, y(second.number(front[i - 1])));
            context.lineTo(px, py);
          }
        });
        context.stroke();
      }

      const nearest = ([px, py]) => {
        let found = -1;
        let least = 12;
        for (const [x, y, row] of places) {
          const distance = Math.hypot(x - px, y - py);
          if (distance < least) [found, least] = [row, distance];
        }
        return found;
      };
      plot.box.addEventListener("pointermove", (event) => {
        const row = nearest(plot.pointer(event));
        state.light(row);
        if (row >= 0) muster.showTip(event, muster.rowLines(model, row));
        else muster.hideTip();
      });
      plot.box.addEventListener("pointerleave", () => {
        state.light(-1);
        muster.hideTip();
      });
      plot.box.addEventListener("click", (event) => state.pin(nearest(plot.pointer(event))));

      let later = 0;
      state.on("rows", ({ moving }) => {
        clearTimeout(later);
        if (moving) later = setTimeout(() => plot.redraw(), 250);
        else plot.redraw();
      });
      state.on("lit", () => plot.redraw("lit"));
      state.on("colour", () => {
        fill();
        plot.redraw();
      });
      state.on("scale", () => {
        fill();
        plot.redraw();
      });
      for (const event of ["data", "theme"]) state.on(event, () => plot.redraw());
      return { plots: [plot] };
    },
  });

  // The cells of an axis: its choices or values, or up to eight intervals of equal length on the axis.
  const cellsOf = (column) => {
    if (!column.numeric) {
      return { names: column.choices, cell: (row) => column.number(row) };
    }
    const values = [...new Set([...column.numbers].filter(Number.isFinite))].sort(d3.ascending);
    if (values.length <= 12) {
      const index = new Map(values.map((value, i) => [value, i]));
      return { names: values.map(muster.number), cell: (row) => (index.has(column.number(row)) ? index.get(column.number(row)) : -1) };
    }
    const scale = column.axis([0, 8]);
    const ends = d3.range(9).map((i) => scale.invert(i));
    const texts = ends.map((end, i) => muster.number(i % 8 === 0 ? end : Number(end.toPrecision(2)))); // those of the axis are exact
    return {
      names: d3.range(8).map((i) => `${texts[i]}…${texts[i + 1]}`),
      ends: texts,
      cell: (row) => {
        const place = scale(column.number(row));
        return Number.isFinite(place) ? Math.min(7, Math.max(0, Math.floor(place))) : -1;
      },
    };
  };
  muster.cellsOf = cellsOf;

  muster.view({
    id: "heatmap",
    title: "Heat map",
    kinds: ["sweep", "compare"],
    when: (model) => model.axes().filter((column) => column.role === "param").length > 1 && model.objective && model.objective.given > 0,
    build(section, { model, state }) {
      const params = model.axes().filter((column) => column.role === "param");
      const important = ((model.sources[0] || {}).importance || {}).parameters || [];
      const order = important.map((one) => one.name).filter((name) => params.some((column) => column.name === name));
      const { address } = muster;
      const kept = (name, first) => (model.column(address.get(name)) ? address.get(name) : first);
      let across = kept("cellx", order[0] || params[0].name);
      let up = kept("celly", order[1] || params.find((column) => column.name !== across).name);
      let value = kept("cellvalue", "value");
      let how = ["mean", "deviation", "count"].includes(address.get("cell")) ? address.get("cell") : "best";
      let cells = [];
      // Of the trials of a cell, such as repetitions with other seeds.
      const deviation = (cell) => muster.number(Number(Math.sqrt(cell.squares / (cell.n - 1)).toPrecision(2)));
      const controls = muster.el("div", { class: "controls" });
      controls.append(
        muster.select("x", choices(model), across, (name) => { across = name; address.set("cellx", name); plot.redraw(); }),
        muster.select("y", choices(model), up, (name) => { up = name; address.set("celly", name); plot.redraw(); }),
        muster.select("value", model.plottable().filter((c) => c.numeric).map((c) => [c.name, c.label]), value, (name) => { value = name; address.set("cellvalue", name); plot.redraw(); }),
        muster.select("of a cell", [["best", "best"], ["mean", "mean"], ["deviation", "mean ± deviation"], ["count", "number of trials"]], how, (name) => { how = name; address.set("cell", name); plot.redraw(); }),
      );
      section.append(controls);
      const plot = new muster.Plot(section, {
        height: 320,
        label: "Heat map",
        draw,
        describe: () => `Heat map: ${how} of ${model.column(value).label} over ${model.column(across).label} and ${model.column(up).label}`,
      });

      function draw(context) {
        const inner = { ...innerOf(plot), left: 96 };
        const theme = muster.theme();
        const [xs, ys] = [cellsOf(model.column(across)), cellsOf(model.column(up))];
        const column = model.column(value);
        const maximize = value === "value" && model.maximize;
        const sums = new Map();
        for (const row of state.rows) {
          const [i, j] = [xs.cell(row), ys.cell(row)];
          const number = column.number(row);
          if (!(i >= 0) || !(j >= 0) || !Number.isFinite(number)) continue;
          const key = i * 1000 + j;
          if (!sums.has(key)) sums.set(key, { i, j, n: 0, mean: 0, squares: 0, best: number, row });
          const cell = sums.get(key);
          cell.n++;
          const off = number - cell.mean; // Welford's sums
          cell.mean += off / cell.n;
          cell.squares += off * (number - cell.mean);
          if (maximize ? number > cell.best : number < cell.best) Object.assign(cell, { best: number, row });
        }
        const shownOf = (cell) => (how === "count" ? cell.n : how === "best" ? cell.best : cell.mean);
        cells = [...sums.values()];
        const sorted = cells.map(shownOf).sort(d3.ascending);
        const width = (inner.right - inner.left) / Math.max(1, xs.names.length);
        const height = (inner.bottom - inner.top) / Math.max(1, ys.names.length);
        const strong = how === "count" || maximize || value !== "value";
        context.textAlign = "center";
        context.textBaseline = "middle";
        for (const cell of cells) {
          const shown = shownOf(cell);
          const part = d3.bisectLeft(sorted, shown) / Math.max(1, sorted.length - 1);
          const strength = strong ? part : 1 - part;
          const colour = d3.color(muster.isDark() ? d3.interpolateViridis(0.15 + 0.8 * strength) : d3.interpolateViridis(0.95 - 0.85 * strength));
          cell.x = inner.left + cell.i * width;
          cell.y = inner.bottom - (cell.j + 1) * height;
          cell.w = width;
          cell.h = height;
          cell.shown = shown;
          context.fillStyle = colour;
          context.fillRect(cell.x + 1, cell.y + 1, width - 2, height - 2);
          const { r, g, b } = d3.rgb(colour);
          context.fillStyle = r * 0.3 + g * 0.59 + b * 0.11 > 130 ? "#111" : "#fff";
          const text = muster.number(Number(shown.toPrecision(3))) + (how === "deviation" && cell.n > 1 ? ` ± ${deviation(cell)}` : "");
          if (height > 13 && context.measureText(text).width < width - 6) context.fillText(text, cell.x + width / 2, cell.y + height / 2);
        }
        context.fillStyle = theme.soft;
        // Intervals have texts at their ends, choices in their middle.
        context.textAlign = "right";
        const every = (room, least) => (_, i) => i % Math.max(1, Math.ceil(least / room)) === 0;
        const [yNames, xNames] = [ys.ends || ys.names, xs.ends || xs.names];
        yNames.forEach((name, j) => every(height, 13)(name, j) && context.fillText(muster.fitted(context, name, inner.left - 28, ys.ends ? null : model.column(up)), inner.left - 6, inner.bottom - (j + (ys.ends ? 0 : 0.5)) * height));
        context.textAlign = "center";
        context.textBaseline = "top";
        // As many names as have room beside one another, shortened where not even a few have.
        const widest = d3.max(xNames, (name) => context.measureText(name).width) || 0;
        const room = Math.max(width, Math.min(widest + 8, xs.ends ? Infinity : 64));
        xNames.forEach((name, i) => {
          if (!every(width, room)(name, i)) return;
          const short = xs.ends ? name : muster.fitted(context, name, Math.ceil(room / width) * width - 8, model.column(across));
          const half = context.measureText(short).width / 2;
          const at = inner.left + (i + (xs.ends ? 0 : 0.5)) * width;
          context.fillText(short, Math.max(half, Math.min(plot.width - half - 1, at)), inner.bottom + 6);
        });
        context.fillStyle = theme.ink;
        context.fillText(muster.fitted(context, model.column(across).label, inner.right - inner.left), (inner.left + inner.right) / 2, inner.bottom + 24);
        context.save();
        context.translate(11, (inner.top + inner.bottom) / 2);
        context.rotate(-Math.PI / 2);
        context.textBaseline = "middle";
        context.fillText(muster.fitted(context, model.column(up).label, inner.bottom - inner.top), 0, 0);
        context.restore();
      }

      const cellAt = ([px, py]) => cells.find((cell) => px >= cell.x && px < cell.x + cell.w && py >= cell.y && py < cell.y + cell.h);
      plot.box.addEventListener("pointermove", (event) => {
        const cell = cellAt(plot.pointer(event));
        state.light(cell ? cell.row : -1);
        if (!cell) return muster.hideTip();
        muster.showTip(event, [muster.plural(cell.n, "trial"), `best ${muster.number(cell.best)} (${muster.rowName(model, cell.row)})`, `mean ${muster.number(cell.mean)}${cell.n > 1 ? ` ± ${deviation(cell)}` : ""}`]);
      });
      plot.box.addEventListener("pointerleave", () => {
        state.light(-1);
        muster.hideTip();
      });
      plot.box.addEventListener("click", (event) => state.pin((cellAt(plot.pointer(event)) || { row: -1 }).row));
      let later = 0;
      state.on("rows", ({ moving }) => {
        clearTimeout(later);
        if (moving) later = setTimeout(() => plot.redraw(), 250);
        else plot.redraw();
      });
      for (const event of ["data", "theme", "scale"]) state.on(event, () => plot.redraw());
      return { plots: [plot] };
    },
  });
})();
