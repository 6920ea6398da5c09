// The data of the page as columns and curves. The format is described in src/page/write/page_data.h; everything that
// the page shows comes from here, and update() adds what is new.
"use strict";

const muster = (globalThis.muster = {});

(() => {
  const bytesOf = (base64) => {
    const text = atob(base64.trim());
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
  };

  // The points of a series. `leftOut` and `mean`: of the points that were left out before each; null if none was.
  const pointsOf = (bytes, [, , offset, length, total, even]) => {
    let at = offset;
    const floats = () => {
      at += 4 * length;
      return new Float32Array(bytes.buffer.slice(at - 4 * length, at));
    };
    const y = floats();
    const x = even ? new Float32Array(length) : floats();
    const thinned = total > length;
    const leftOut = thinned ? new Uint32Array(length) : null;
    const mean = thinned ? new Float32Array(length) : null;
    for (let i = 0; thinned && i < length; i++) {
      let shift = 0;
      do {
        leftOut[i] += (bytes[at] & 0x7f) * 2 ** shift;
        shift += 7;
      } while (bytes[at++] & 0x80);
    }
    const upper = new DataView(new ArrayBuffer(4));
    for (let i = 0; thinned && i < length; i++) {
      if (!leftOut[i]) continue;
      upper.setUint32(0, ((bytes[at] << 8) | (bytes[at + 1] << 16) | (bytes[at + 2] << 24)) >>> 0);
      at += 3;
      mean[i] = y[i] + (upper.getFloat32(0) || 0);
    }
    for (let i = 0, place = 0; even && i < length; i++) {
      if (i) place += 1 + (thinned ? leftOut[i] : 0);
      x[i] = even[0] + even[1] * place;
    }
    return { x, y, leftOut, mean, total };
  };

  const asText = (value) => (value === null || value === undefined ? "" : String(value));

  const LONG = 12; // characters
  const reversed = (text) => [...text].reverse().join("");
  // How many characters at their beginning all texts have in common.
  const commonStart = (texts) => {
    const [first, ...others] = texts;
    let same = 0;
    while (same < first.length && others.every((text) => text[same] === first[same])) same++;
    return same;
  };

  // What a name says about a column that a patch begins.
  const newColumn = (name) => {
    if (name === "tags") return { role: "fact", list: true };
    const [, role = "metric", label = name] = /^(param|metric|tag)\.(.+)$/.exec(name) || [];
    return { role, label };
  };

  // One property of all rows. `number(row)` is the place on an axis: the value, or for texts the index of the choice.
  class Column {
    constructor(json) {
      Object.assign(this, { label: json.name, role: "fact", scale: "linear", domain: null, choices: null }, json);
      this.refresh();
    }

    refresh() {
      this.numeric = this.values.every((value) => value === null || value === undefined || typeof value === "number");
      this.given = this.values.filter((value) => value !== null && value !== undefined).length;
      if (this.numeric) {
        this.numbers = Float64Array.from(this.values, (value) => (typeof value === "number" ? value : NaN));
      } else {
        const known = new Set(this.choices || []);
        const found = [...new Set(this.values.filter((v) => v !== null && v !== undefined).map(asText))];
        const rest = found.filter((text) => !known.has(text));
        const numbers = rest.every((text) => text !== "" && isFinite(text));
        rest.sort(numbers ? (a, b) => a - b : undefined);
        this.choices = [...known, ...rest];
        this.codes = new Map(this.choices.map((text, i) => [text, i]));
        this.numbers = Float64Array.from(this.values, (value) =>
          value === null || value === undefined ? NaN : this.codes.get(asText(value)));
      }
      const long = (this.numeric ? [] : this.choices).filter((text) => text.length > LONG);
      this.common = long.length > 1 ? [commonStart(long), commonStart(long.map(reversed))] : [0, 0];
      const finite = this.numbers.filter((number) => Number.isFinite(number));
      const different = new Set(finite);
      this.few = this.numeric && this.role === "param" && different.size <= 8 ? [...different].sort(d3.ascending) : null;
      this.low = d3.min(finite);
      this.high = d3.max(finite);
      this.leastPositive = d3.min(finite.filter((number) => number > 0));
      this.varies = new Set(this.values.map(asText)).size > 1;
    }

    number(row) {
      return this.numbers[row];
    }
    // A text of it in at most so many characters: the part in which long ones differ, such as paths.
    short(text, most) {
      const [start, end] = this.common;
      const differs = text.length - start - end;
      if (text.length <= LONG || text.length <= most || differs <= 0 || differs + 2 > most || start + end === 0) return muster.shortened(text, most);
      const room = most - 2;
      const from = Math.max(0, Math.min(text.length - room, start - ((room - differs) >> 1)));
      return `${from > 0 ? "…" : ""}${text.slice(from, from + room)}${from + room < text.length ? "…" : ""}`;
    }
    text(row) {
      return asText(this.values[row]);
    }
    // Worth an axis: at least one value, and not a different text in every row.
    get plottable() {
      return this.given > 0 && (this.numeric || this.choices.length <= 24);
    }
    // Whether its axis is logarithmic: values that are not above 0 have no place on it.
    get logarithmic() {
      return this.numeric && this.scale === "log" && this.leastPositive > 0;
    }
    // How many of the rows have a value without a place on the axis.
    notAboveZero(rows) {
      return this.logarithmic ? d3.sum(rows, (row) => this.numbers[row] <= 0) : 0;
    }
    // The ends of an axis: those of the sweep's space, wider if there are values outside of it.
    extent() {
      let [low, high] = this.domain || [this.low, this.high];
      if (this.low < low) low = this.low;
      if (this.high > high) high = this.high;
      if (this.logarithmic && low <= 0) low = this.domain && this.domain[0] > 0 ? Math.min(this.domain[0], this.leastPositive) : this.leastPositive;
      if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
      if (low === high) return low === 0 ? [-1, 1] : this.logarithmic ? [low / 2, low * 2] : [low - Math.abs(low) / 2, low + Math.abs(low) / 2];
      return [low, high];
    }
    axis(range) {
      if (!this.numeric) return d3.scalePoint().domain(this.choices.map((_, i) => i)).range(range).padding(0.5);
      const [low, high] = this.extent();
      return (this.logarithmic ? d3.scaleLog() : d3.scaleLinear()).domain([low, high]).range(range);
    }
  }

  muster.Model = class {
    constructor(data, base64) {
      this.data = data;
      this.kind = data.kind;
      this.sources = data.sources || [];
      this.keys = data.keys || [];
      this.rowOf = new Map(this.keys.map((key, row) => [key, row]));
      this.columns = (data.columns || []).map((json) => new Column(json));
      this.splitObjectives();
      this.byName = new Map(this.columns.map((column) => [column.name, column]));
      this.attempts = data.attempts || [];
      this.metrics = [...((data.curves || {}).metrics || [])];
      this.base64 = base64;
    }

    // Results of sweeps with different objectives have no common scale: each objective becomes a column of its own.
    splitObjectives() {
      const place = this.columns.findIndex((column) => column.name === "value");
      const scales = [...new Set(this.sources.map((_, source) => this.scaleOf(source)))].filter(Boolean);
      if (place < 0 || scales.length < 2) return;
      const { values, ...about } = this.columns[place];
      const own = scales.map((scale) => {
        const label = this.sources[this.sources.findIndex((_, source) => this.scaleOf(source) === scale)].objective.metric;
        return new Column({ name: scale, label, role: "metric", scale: about.scale, values: values.map((value, row) => (this.scaleOf(this.sourceOf(row)) === scale ? value : null)) });
      });
      this.columns.splice(place, 1, ...own);
    }
    // What the results of a source are, "smallest loss"; empty without an objective.
    scaleOf(source) {
      const { objective } = this.sources[source];
      return objective ? `${objective.maximize ? "largest" : "smallest"} ${objective.metric}` : "";
    }
    // The rankings of the page: for each objective its column and its sources.
    rankings() {
      const rankings = new Map();
      this.sources.forEach((_, source) => {
        const scale = this.scaleOf(source);
        const column = this.byName.get("value") || this.byName.get(scale);
        if (!column) return;
        if (!rankings.has(scale)) rankings.set(scale, { scale, column, maximize: scale.startsWith("largest "), sources: new Set() });
        rankings.get(scale).sources.add(source);
      });
      return [...rankings.values()];
    }
    // The rows with a result, the best first: of trials that succeeded, since those of stopped ones are of other steps.
    ranked({ column, maximize, sources }) {
      const state = this.column("state");
      const rows = d3.range(this.count).filter((row) => Number.isFinite(column.numbers[row]) && sources.has(this.sourceOf(row)) && (!state || state.text(row) === "ok"));
      return rows.sort((a, b) => (maximize ? column.numbers[b] - column.numbers[a] : column.numbers[a] - column.numbers[b]) || a - b);
    }

    // By metric. Decoded when they are drawn first.
    get curves() {
      if (!this.decoded) this.decode();
      return this.decoded;
    }
    decode() {
      this.decoded = new Map();
      const bytes = bytesOf(this.base64 || "");
      this.base64 = "";
      const { metrics = [], series = [], bad = {}, bad_points: badPoints = {} } = this.data.curves || {};
      series.forEach((one, i) => {
        const [row, metric, , , , , starts] = one;
        const marks = bad[i] || [];
        this.curvesOf(metrics[metric])[row] = { ...pointsOf(bytes, one), bad: marks, badTotal: badPoints[i] || marks.length, starts: starts || [] };
      });
    }

    get count() {
      return this.keys.length;
    }
    column(name) {
      return this.byName.get(name);
    }
    // By row; rows without points are missing.
    curvesOf(metric) {
      if (!this.curves.has(metric)) this.curves.set(metric, []);
      return this.curves.get(metric);
    }
    sourceOf(row) {
      return Number(this.keys[row].split(":")[0]);
    }
    source(row) {
      return this.sources[this.sourceOf(row)];
    }
    // The value of the objective; undefined without one, and if sources have different ones.
    get objective() {
      return this.byName.get("value");
    }
    get maximize() {
      const objective = (this.sources[0] || {}).objective;
      return Boolean(objective && objective.maximize);
    }
    // The column of the second objective of the one sweep of the page; undefined without one.
    get secondObjective() {
      const second = this.sources.length === 1 && this.sources[0].second_objective;
      return second && this.objective ? this.columns.find((c) => c.role === "metric" && [second.metric, `metric.${second.metric}`].includes(c.name)) : undefined;
    }
    // Of these rows, the trials that succeeded and that no other one dominates in both objectives, the best in the first one first.
    front(rows) {
      const [one, other] = [this.objective, this.secondObjective];
      const state = this.column("state");
      const sign = this.maximize ? -1 : 1;
      const otherSign = this.sources[0].second_objective.maximize ? -1 : 1;
      const sound = rows.filter((row) => Number.isFinite(one.number(row)) && Number.isFinite(other.number(row)) && (!state || state.text(row) === "ok"));
      sound.sort((a, b) => sign * (one.number(a) - one.number(b)) || otherSign * (other.number(a) - other.number(b)));
      let least = Infinity;
      return sound.filter((row) => {
        const value = otherSign * other.number(row);
        if (value >= least) return false;
        least = value;
        return true;
      });
    }
    // The metric to show first: the objective, else a loss.
    get firstMetric() {
      return (!this.objective && this.metrics.find((name) => /loss/i.test(name))) || this.metrics[0];
    }
    // Columns by how much they say: parameters that vary, the objective, other metrics.
    axes() {
      const params = this.columns.filter((c) => c.role === "param" && c.varies && c.plottable);
      const value = this.objective && this.objective.given ? [this.objective] : [];
      return [...params, ...value];
    }
    plottable() {
      return this.columns.filter((column) => column.plottable);
    }

    // Adds the rows, values and points of a patch; returns whether there were new rows.
    update(patch) {
      if (patch.sources) this.sources = patch.sources;
      if (patch.attempts) this.attempts = patch.attempts;
      let added = false;
      const changed = new Set();
      for (const { key, values } of patch.rows || []) {
        if (!this.rowOf.has(key)) {
          this.rowOf.set(key, this.keys.length);
          this.keys.push(key);
          for (const column of this.columns) {
            column.values.push(null);
            changed.add(column);
          }
          added = true;
        }
        const row = this.rowOf.get(key);
        for (const [name, value] of Object.entries(values)) {
          if (!this.byName.has(name)) {
            const column = new Column({ ...newColumn(name), name, values: new Array(this.count).fill(null) });
            this.columns.push(column);
            this.byName.set(name, column);
          }
          const column = this.byName.get(name);
          column.values[row] = value;
          changed.add(column);
        }
      }
      for (const column of changed) column.refresh();
      for (const points of patch.curves || []) {
        const row = this.rowOf.get(points.key);
        if (row === undefined) continue;
        if (!this.metrics.includes(points.metric)) this.metrics.push(points.metric);
        const curves = this.curvesOf(points.metric);
        const old = points.replace || !curves[row] ? { x: [], y: [], leftOut: null, mean: null, total: 0, bad: [], badTotal: 0, starts: [] } : curves[row];
        const { x, y, left_out: leftOut, mean, bad = [] } = points;
        const thinned = old.leftOut || leftOut;
        curves[row] = {
          x: Float32Array.of(...old.x, ...x),
          y: Float32Array.of(...old.y, ...y),
          leftOut: thinned ? Uint32Array.of(...(old.leftOut || old.x.map(() => 0)), ...(leftOut || x.map(() => 0))) : null,
          mean: thinned ? Float32Array.of(...(old.mean || old.x.map(() => 0)), ...(mean || x.map(() => 0))) : null,
          total: points.total || old.total + x.length,
          bad: [...old.bad, ...bad],
          badTotal: old.badTotal + bad.length,
          starts: old.starts,
        };
      }
      for (const name of ["run", "made", "live"]) if (name in patch) this.data[name] = patch[name];
      return added;
    }
  };
})();
