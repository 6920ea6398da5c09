// The page of one run or sweep while it goes on: its state, its trials or processes, and curves.
"use strict";

(() => {
  const { el } = serve;
  const data = JSON.parse(document.getElementById("served").textContent);
  const sweep = data.kind === "sweep";
  const root = document.getElementById("page");
  const facts = el("dl", { class: "facts" });
  const title = el("h1", {});
  const head = el("thead", {});
  const body = el("tbody", {});
  root.append(
    el("nav", {}, el("a", { href: `${serve.root}/` }, "all runs and sweeps")),
    el("header", {}, title, el("span", { id: "connection", role: "status" })),
    serve.controls(data.kind), facts,
    el("table", { "aria-label": sweep ? "trials" : "processes" }, head, body));

  // --- curves

  const WIDTH = 160;
  const HEIGHT = 28;
  const curves = new Map(); // row key -> metric -> {x, y}
  const take = (points) => {
    const { key } = points;
    if (!curves.has(key)) curves.set(key, new Map());
    const of = curves.get(key);
    const old = points.replace ? { x: [], y: [] } : of.get(points.metric) || { x: [], y: [] };
    of.set(points.metric, { x: old.x.concat(points.x), y: old.y.concat(points.y), total: points.total });
    return key;
  };
  const sketch = (canvas, curve) => {
    const scale = devicePixelRatio || 1;
    canvas.width = WIDTH * scale;
    canvas.height = HEIGHT * scale;
    canvas.setAttribute("aria-label", `${curve.total} points, last ${serve.number(curve.y[curve.y.length - 1])}`);
    const [x0, x1] = [curve.x[0], curve.x[curve.x.length - 1]];
    let low = Infinity;
    let high = -Infinity;
    for (const y of curve.y) {
      low = Math.min(low, y);
      high = Math.max(high, y);
    }
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    context.strokeStyle = getComputedStyle(canvas).color;
    context.beginPath();
    curve.x.forEach((x, i) => {
      const across = x1 > x0 ? (x - x0) / (x1 - x0) : 0.5;
      const up = high > low ? (curve.y[i] - low) / (high - low) : 0.5;
      context.lineTo(1 + across * (WIDTH - 2), HEIGHT - 2 - up * (HEIGHT - 4));
    });
    context.stroke();
  };

  // --- a sweep

  const rows = new Map(); // key -> {values, row, canvas, dirty}
  const objective = data.objective ? data.objective.metric : null;
  const columns = sweep
    ? [["trial", "trial"], ["state", "state"], ...data.names.map((name) => [name, name]), ["value", objective || "value"], ["took", "took"], ["hosts", "hosts"], ["why", "why"]]
    : [["process", "process"], ["state", "state"], ["rank", "rank"], ["host", "host"], ["attempts", "attempts"], ["exit", "exit"]];

  const cell = (name, values) => {
    if (name === "trial") return el("a", { href: `${serve.base}/trial/${values.trial}` }, String(values.trial));
    if (name === "state") return el("span", { class: `state ${values.state}` }, values.state || "");
    if (name === "took") return serve.duration(values.took);
    return serve.number(values[name]);
  };
  const stopTrial = (values) =>
    serve.twice("Stop", "sure?", () => serve.act("stop", {}, () => `trial ${values.trial} is stopping`, `${serve.base}/trial/${values.trial}`), { class: "small", "data-stop": values.trial });
  const drawRow = (key) => {
    const kept = rows.get(key);
    const { values } = kept;
    kept.canvas = kept.canvas || el("canvas", { role: "img", width: "160", height: "28" });
    const cells = columns.map(([name]) => el("td", {}, cell(name, values)));
    cells.push(el("td", { class: "curve" }, kept.canvas));
    if (sweep) cells.push(el("td", {}, values.state === "running" ? stopTrial(values) : ""));
    if (!kept.row) {
      kept.row = el("tr", { "data-key": key });
      body.append(kept.row);
    }
    kept.row.dataset.state = values.state;
    // A button that waits for its second press stays.
    if (kept.row.contains(document.activeElement) && kept.state === values.state) {
      cells.slice(0, -1).forEach((one, i) => kept.row.children[i].replaceWith(one));
    } else {
      kept.row.replaceChildren(...cells);
    }
    kept.state = values.state;
  };
  const curveOf = (key) => {
    const of = curves.get(key);
    if (!of) return null;
    return of.get(objective) || of.values().next().value || null;
  };

  const setRow = (key, values) => {
    if (!rows.has(key)) rows.set(key, { values: {} });
    Object.assign(rows.get(key).values, values);
    dirty.add(key);
  };
  const dirty = new Set();
  let drawing = false;
  const drawSoon = () => {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => {
      drawing = false;
      for (const key of dirty) {
        drawRow(key);
        const curve = curveOf(key);
        if (curve && curve.y.length) sketch(rows.get(key).canvas, curve);
      }
      dirty.clear();
    });
  };

  const showFacts = (pairs) =>
    facts.replaceChildren(...pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { id: `fact-${name.replaceAll(" ", "-")}` }, String(value)))));
  const showSweep = (state) => {
    title.replaceChildren(`${state.name} `, el("span", { class: `state ${state.state}`, id: "state" }, state.state));
    const { counts } = state;
    showFacts([
      ["trials", `${counts.over} of ${counts.possible} over`], ["running", counts.running], ["slots", state.slots], ["failed", counts.failed || ""],
      ["impossible", counts.impossible || ""], ["best", state.best ? `${objective} ${serve.number(state.best.value)} (trial ${state.best.trial})` : ""],
      ["why", state.why], ["note", state.note], ["id", state.id]]);
  };

  // --- a run

  const showRun = (run) => {
    title.replaceChildren(`${run.name} `, el("span", { class: `state ${run.outcome}`, id: "state" }, run.outcome));
    showFacts([["why", run.why], ["exit code", run.outcome === "running" ? "" : run.exit_code], ["restarts", run.restarts.length || ""],
      ["checkpoint", run.checkpoint], ["tags", run.tags.join(", ")], ["note", run.note], ["id", run.run]]);
    for (const process of run.processes) {
      const last = process.attempts[process.attempts.length - 1] || {};
      const name = `${process.role}.${process.index}`;
      setRow(`0:${name}`, {
        process: name, state: process.verdict, rank: process.rank, host: process.host, attempts: process.attempts.length,
        exit: last.signal || (last.exit_code === null || last.exit_code === undefined ? "" : last.exit_code),
      });
    }
  };

  const apply = (patch) => {
    for (const points of patch.curves || []) dirtyRow(take(points));
    for (const { key, values } of patch.rows || []) setRow(key, values);
    if (patch.state) showSweep(patch.state);
    if (patch.run) showRun(patch.run);
    drawSoon();
  };
  const dirtyRow = (key) => {
    if (rows.has(key)) dirty.add(key);
  };

  head.append(el("tr", {}, ...columns.map(([, label]) => el("th", { scope: "col" }, label)), el("th", { scope: "col" }, sweep ? objective || "curve" : "metrics"), sweep ? el("th", { scope: "col" }, "") : ""));
  apply(data);
  serve.follow(data.version, { update: apply });
  document.documentElement.dataset.ready = "true";
})();
