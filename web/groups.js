// Groups of trials that differ in one parameter only, such as the seed: their means and deviations, for curves and for
// results.
"use strict";

(() => {
  const { el } = muster;
  const MOST_STEPS = 1000; // of a mean curve
  const MOST_GROUPS = 8; // of the table

  // Texts that are equal if, and only if, the rows of a source have equal values in all parameters but `name`.
  const keysOf = (model, name) => {
    const others = model.columns.filter((column) => column.role === "param" && column.name !== name);
    return (row) => JSON.stringify([model.sourceOf(row), ...others.map((column) => column.values[row] ?? null)]);
  };

  // The rows in groups, in the order of their first rows: {rows, name}.
  const groupsOf = (model, rows, name) => {
    const keyOf = keysOf(model, name);
    const groups = new Map();
    for (const row of rows) {
      const key = keyOf(row);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(row);
    }
    return [...groups.values()].map((members) => ({ rows: members, name: nameOf(model, members[0], name) }));
  };
  const nameOf = (model, row, name) => {
    const source = model.sources.length > 1 ? [model.source(row).label] : [];
    const others = model.columns.filter((column) => column.role === "param" && column.name !== name && column.varies && column.text(row) !== "");
    return [...source, ...others.map((column) => `${column.label} ${muster.number(column.values[row])}`)].join(", ") || "all";
  };

  // The parameters that at least two trials differ in alone.
  const repeated = (model) => model.columns.filter((column) => {
    if (column.role !== "param" || !column.varies) return false;
    const keyOf = keysOf(model, column.name);
    const known = new Map();
    for (let row = 0; row < model.count; row++) {
      const key = keyOf(row);
      if (known.has(key) && known.get(key) !== column.text(row)) return true;
      known.set(key, column.text(row));
    }
    return false;
  });

  // {n, mean, deviation}: that of a sample; NaN of a single value.
  const moments = (values) => {
    let mean = 0;
    let squares = 0;
    let n = 0;
    for (const value of values) {
      n++;
      const off = value - mean; // Welford's sums
      mean += off / n;
      squares += off * (value - mean);
    }
    return { n, mean: n ? mean : NaN, deviation: n > 1 ? Math.sqrt(squares / (n - 1)) : NaN };
  };
  const deviationText = (deviation) => muster.number(Number(deviation.toPrecision(2)));
  const meanText = ({ n, mean, deviation }) => `${muster.number(mean)}${n > 1 ? ` ± ${deviationText(deviation)}` : ""}`;

  // A curve without its noise where points were left out: the mean of these and the next point.
  const levelled = ({ x, y, leftOut, mean }) => {
    if (!leftOut) return { x, y };
    const last = x.length - 1;
    return {
      x: x.map((at, i) => (leftOut[i] && i < last ? (x[i - 1] + at) / 2 : at)),
      y: y.map((value, i) => (leftOut[i] ? (mean[i] * leftOut[i] + value) / (leftOut[i] + 1) : value)),
    };
  };

  // Finite points by ascending x; of equal ones the last.
  const ascending = ({ x, y }) => {
    const points = d3.range(x.length).filter((i) => Number.isFinite(y[i]));
    points.sort((a, b) => x[a] - x[b] || a - b);
    return points.filter((point, i) => i + 1 === points.length || x[points[i + 1]] !== x[point]).map((i) => [x[i], y[i]]);
  };

  // The mean of curves at all their steps, at most MOST_STEPS: {x, y, deviation, n}. A curve counts from its first to its
  // last point, between its points with the line through them.
  const meanCurve = (curves) => {
    const points = curves.map(ascending).filter((one) => one.length);
    let steps = [...new Set(points.flatMap((one) => one.map(([x]) => x)))].sort(d3.ascending);
    if (steps.length > MOST_STEPS) {
      const each = (steps.length - 1) / (MOST_STEPS - 1);
      const all = steps;
      steps = d3.range(MOST_STEPS).map((i) => all[Math.round(i * each)]);
    }
    const at = points.map(() => 0);
    const result = steps.map((step) => moments(points.map((one, i) => {
      while (at[i] + 1 < one.length && one[at[i] + 1][0] <= step) at[i]++;
      const [x, y] = one[at[i]];
      if (step === x) return y;
      if (step < x || at[i] + 1 === one.length) return NaN;
      const [nextX, nextY] = one[at[i] + 1];
      return y + ((nextY - y) * (step - x)) / (nextX - x);
    }).filter(Number.isFinite)));
    return { x: Float64Array.from(steps), y: result.map((one) => one.mean), deviation: result.map((one) => one.deviation), n: result.map((one) => one.n) };
  };

  // The control, if there is something to average over.
  const meanOver = ({ model, state }) => {
    const columns = repeated(model);
    return columns.length ? muster.select("mean over", [["", "nothing"], ...columns.map((column) => [column.name, column.label])], state.meanOver, (name) => state.setMeanOver(name)) : "";
  };

  // The groups of a ranking with the best mean of results, over the trials that succeeded.
  const groupTable = ({ model, state }, ranking) => {
    if (!state.meanOver) return "";
    const name = model.column(state.meanOver).label;
    const { column, maximize } = ranking;
    const shown = d3.range(model.count).filter((row) => state.visible[row] && ranking.sources.has(model.sourceOf(row)));
    const ranked = new Set(model.ranked(ranking));
    const groups = groupsOf(model, shown, state.meanOver)
      .map((group) => ({ ...group, ok: group.rows.filter((row) => ranked.has(row)) }))
      .filter((group) => group.ok.length)
      .map((group) => ({ ...group, ...moments(group.ok.map((row) => column.numbers[row])) }));
    if (!groups.length) return "";
    groups.sort((a, b) => (maximize ? b.mean - a.mean : a.mean - b.mean) || a.ok[0] - b.ok[0]);
    const best = (rows) => d3[maximize ? "max" : "min"](rows, (row) => column.numbers[row]);
    const title = `Best means over ${name}`;
    const table = el("table", { class: "plain", "aria-label": title.toLowerCase() },
      el("thead", {}, el("tr", {}, ["group", `mean ${column.label}`, "deviation", "trials", "best"].map((text, i) => el("th", { scope: "col", class: i ? "number" : null }, text)))),
      el("tbody", {}, groups.slice(0, MOST_GROUPS).map((group) => el("tr", {},
        el("td", { title: group.name.length > 80 ? group.name : null }, muster.shortened(group.name, 80)),
        el("td", { class: "number" }, muster.number(group.mean)),
        el("td", { class: "number" }, group.n > 1 ? `± ${deviationText(group.deviation)}` : "–"),
        el("td", { class: "number" }, group.n === group.rows.length ? String(group.n) : `${group.n} of ${group.rows.length}`),
        el("td", { class: "number" }, muster.number(best(group.ok)))))));
    return el("div", { class: "scrolls" }, el("h3", {}, title), table,
      el("p", { class: "hint" }, `${groups.length > MOST_GROUPS ? `and ${muster.count(groups.length - MOST_GROUPS)} more; ` : ""}a group has the trials that differ in ${name} alone; means are over those that succeeded`));
  };

  // The points of sweeps that repeat each point with several seeds, with their repetitions below them.
  muster.view({
    id: "points",
    title: "Points",
    kinds: ["sweep", "compare"],
    wide: true,
    when: (model) => model.sources.some((source) => source.points),
    build(section, { model, state }) {
      const open = new Set();
      const resultOf = (source, row) => {
        const column = model.column("value") || model.column(model.scaleOf(source));
        return column && Number.isFinite(column.number(row)) ? muster.number(column.number(row)) : "";
      };
      const trialLine = (source, trial) => {
        const row = model.rowOf.get(`${source}:${trial}`);
        const texts = row === undefined ? [] : [model.column("state").text(row), resultOf(source, row)];
        const text = texts.filter(Boolean).join(", ");
        const line = el("li", { "data-row": row ?? null }, `trial ${trial}${text ? `: ${text}` : ""}`);
        if (row !== undefined) {
          line.addEventListener("pointerenter", () => state.light(row));
          line.addEventListener("pointerleave", () => state.light(-1));
          line.addEventListener("click", () => state.pin(row));
        }
        return line;
      };
      const details = (source, point, count) => {
        const key = `${source}:${point.trials[0]}`;
        const all = el("details", { open: open.has(key) ? "" : null },
          el("summary", {}, `${point.results} of ${count}`), el("ul", { class: "repetitions" }, point.trials.map((trial) => trialLine(source, trial))));
        all.addEventListener("toggle", () => (all.open ? open.add(key) : open.delete(key)));
        return all;
      };
      const tableOf = (of, source) => {
        const { points, seed, count, median, total } = of;
        const metric = (model.sources[source].objective || { metric: "loss" }).metric;
        const heads = ["point", `${median ? "median" : "mean"} ${metric}`, "deviation", "results"];
        const nameOfPoint = (point) => Object.entries(point).map(([name, value]) => `${name} ${muster.number(value)}`).join(", ") || "all";
        return el("div", { class: "scrolls" },
          model.sources.length > 1 ? el("h3", {}, model.sources[source].label) : null,
          el("table", { class: "plain", "aria-label": "points" },
            el("thead", {}, el("tr", {}, heads.map((text, i) => el("th", { scope: "col", class: i === 1 || i === 2 ? "number" : null }, text)))),
            el("tbody", {}, points.map((one) => {
              const name = nameOfPoint(one.point);
              return el("tr", { class: one.ranked ? null : "soft" },
                el("td", { title: name.length > 80 ? name : null }, muster.shortened(name, 80)),
                el("td", { class: "number" }, one.value === null ? "–" : muster.number(one.value)),
                el("td", { class: "number" }, one.results > 1 ? `± ${deviationText(one.deviation)}` : "–"),
                el("td", {}, details(source, one, count)));
            }))),
          el("p", { class: "hint" }, `${total > points.length ? `and ${muster.count(total - points.length)} more; ` : ""}each point is tried with ${count} values of ${seed}; one without all ${count} results is not ranked, and a repetition that failed, was stopped or is paused is no result`));
      };
      const fill = () => {
        section.replaceChildren(section.firstChild, ...model.sources.map((source, i) => (source.points ? tableOf(source.points, i) : "")).filter(Boolean));
      };
      fill();
      state.on("data", fill);
      return { plots: [] };
    },
  });

  Object.assign(muster, { groupsOf, repeated, moments, meanText, levelled, meanCurve, meanOver, groupTable });
})();
