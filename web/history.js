// The results of trials: in their order, with the best so far, and how they are distributed.
"use strict";

(() => {
  const MARGIN = { top: 10, right: 16, bottom: 42, left: 76 };
  const RADIUS = 2.6;
  const innerOf = (plot) => ({ left: MARGIN.left, top: MARGIN.top, right: plot.width - MARGIN.right, bottom: plot.height - MARGIN.bottom });

  // The steps of the best result so far: [trial, value] of each that improves on all before, by trial number.
  const bestSoFar = (points, maximize) => {
    const steps = [];
    for (const [trial, value] of points) {
      const last = steps.length ? steps[steps.length - 1][1] : maximize ? -Infinity : Infinity;
      if (maximize ? value > last : value < last) steps.push([trial, value]);
    }
    return steps;
  };
  // The empirical distribution: [value, share of the results that are as good or better], the best first.
  const distribution = (values, maximize) => {
    const sorted = [...values].sort(maximize ? d3.descending : d3.ascending);
    return sorted.map((value, i) => [value, (i + 1) / sorted.length]).filter(([value], i) => value !== sorted[i + 1]);
  };
  Object.assign(muster, { bestSoFar, distribution });

  muster.view({
    id: "history",
    title: "Results",
    kinds: ["sweep", "compare"],
    wide: true,
    when: (model) => model.rankings().some((ranking) => model.ranked(ranking).length > 1),
    build(section, { model, state }) {
      const { el } = muster;
      const plots = [];
      const redraw = () => plots.forEach((plot) => plot.redraw());
      const controls = el("div", { class: "controls" });
      const foot = el("p", { class: "hint" });
      const tables = el("div", { class: "pair" });
      const fill = () => {
        controls.replaceChildren(muster.meanOver({ model, state }), ...model.rankings().map(({ column }) => muster.logCheck(state, column)));
        foot.textContent = model.rankings().map((ranking) => muster.notAbove(ranking.column, model.ranked(ranking).filter((row) => state.visible[row]))).filter(Boolean).join("; ");
        tables.replaceChildren(...model.rankings().map((ranking) => muster.groupTable({ model, state }, ranking)));
      };
      section.append(controls);
      const number = (row) => Number(model.column("trial").values[row]);
      const shownOf = (ranking) => model.ranked(ranking).filter((row) => state.visible[row] && (!ranking.column.logarithmic || ranking.column.numbers[row] > 0));
      const scaleOf = (ranking, rows, range) => {
        const log = ranking.column.logarithmic;
        let [low, high] = d3.extent(rows, (row) => ranking.column.numbers[row]);
        if (!(low <= high)) [low, high] = log ? [1, 10] : [0, 1];
        if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
        return (log ? d3.scaleLog() : d3.scaleLinear()).domain([low, high]).nice().range(range);
      };
      const stepped = (context, points, x, y, end) => {
        context.beginPath();
        points.forEach(([at, value], i) => {
          if (i) context.lineTo(x(at), y(points[i - 1][1]));
          context[i ? "lineTo" : "moveTo"](x(at), y(value));
        });
        if (points.length) context.lineTo(end, y(points[points.length - 1][1]));
        context.stroke();
      };

      for (const ranking of model.rankings()) {
        const { column, maximize } = ranking;
        const box = el("div", { class: "pair" });
        if (model.rankings().length > 1) section.append(el("h3", {}, ranking.scale));
        section.append(box);

        let places = [];
        const history = new muster.Plot(box, {
          height: 260,
          layers: ["main", "lit"],
          label: "Results by trial",
          describe: () => {
            const rows = shownOf(ranking);
            return `${column.label} of ${muster.plural(rows.length, "trial")}${rows.length ? `, the best ${muster.number(column.numbers[rows[0]])}` : ""}`;
          },
          draw(context, layer) {
            const inner = innerOf(history);
            const rows = shownOf(ranking);
            let [first, last] = d3.extent(rows, number);
            if (!(first < last)) [first, last] = [(first || 0) - 0.5, (first || 0) + 0.5];
            const x = d3.scaleLinear().domain([first, last]).range([inner.left + 6, inner.right - 6]);
            const y = scaleOf(ranking, rows, [inner.bottom - 6, inner.top + 6]);
            if (layer === "lit") {
              if (!rows.includes(state.lit)) return;
              context.fillStyle = state.colours[state.lit];
              context.beginPath();
              context.arc(x(number(state.lit)), y(column.numbers[state.lit]), 6, 0, 2 * Math.PI);
              context.fill();
              return;
            }
            muster.drawAxes(context, inner, x, y, { xName: "trial", yName: column.label, xWhole: true });
            places = rows.map((row) => [x(number(row)), y(column.numbers[row]), row]);
            for (const [px, py, row] of places) {
              context.fillStyle = state.colours[row];
              context.beginPath();
              context.arc(px, py, RADIUS, 0, 2 * Math.PI);
              context.fill();
            }
            context.strokeStyle = muster.theme().ink;
            context.lineWidth = 1.5;
            for (const source of ranking.sources) {
              const points = rows.filter((row) => model.sourceOf(row) === source).map((row) => [number(row), column.numbers[row]]);
              points.sort((a, b) => a[0] - b[0]);
              stepped(context, bestSoFar(points, maximize), x, y, inner.right - 6);
            }
          },
        });

        const shares = new muster.Plot(box, {
          height: 260,
          label: "Distribution of results",
          describe: () => `Share of trials with a ${column.label} that is as good or better`,
          draw(context) {
            const inner = innerOf(shares);
            const rows = shownOf(ranking);
            const x = scaleOf(ranking, rows, [inner.left, inner.right]);
            const y = d3.scaleLinear().domain([0, 1]).range([inner.bottom, inner.top]);
            muster.drawAxes(context, inner, x, y, { xName: column.label, yName: "share of trials" });
            context.lineWidth = 1.5;
            for (const source of ranking.sources) {
              context.strokeStyle = ranking.sources.size > 1 ? muster.category(source) : muster.theme().ink;
              const values = rows.filter((row) => model.sourceOf(row) === source).map((row) => column.numbers[row]);
              stepped(context, distribution(values, maximize), x, y, maximize ? inner.left : inner.right);
            }
          },
        });

        const nearest = ([px, py]) => {
          let [found, least] = [-1, 12];
          for (const [x, y, row] of places) {
            const distance = Math.hypot(x - px, y - py);
            if (distance < least) [found, least] = [row, distance];
          }
          return found;
        };
        history.box.addEventListener("pointermove", (event) => {
          const row = nearest(history.pointer(event));
          state.light(row);
          if (row >= 0) muster.showTip(event, muster.rowLines(model, row));
          else muster.hideTip();
        });
        history.box.addEventListener("pointerleave", () => {
          state.light(-1);
          muster.hideTip();
        });
        history.box.addEventListener("click", (event) => state.pin(nearest(history.pointer(event))));
        plots.push(history, shares);
      }

      section.append(foot, tables);
      const all = () => {
        fill();
        redraw();
      };
      fill();
      let later = 0;
      state.on("rows", ({ moving }) => {
        clearTimeout(later);
        if (moving) later = setTimeout(all, 250);
        else all();
      });
      state.on("lit", () => plots.forEach((plot) => plot.redraw("lit")));
      for (const event of ["data", "scale"]) state.on(event, all);
      state.on("mean", fill);
      for (const event of ["theme", "colour"]) state.on(event, redraw);
      return { plots };
    },
  });
})();
