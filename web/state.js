// What is selected: the filter, the brushes, the row that is lit in all panels, the colour, the parameter to average
// over, logarithmic axes. Views listen to its events: "rows" (other rows are visible), "lit", "colour", "mean", "scale",
// "data" (new data), "theme".
"use strict";

(() => {
  const CATEGORIES = ["#3b78c3", "#e08214", "#2f9e62", "#c9403c", "#8a63c0", "#8c6d46", "#d063a8", "#708090", "#a3a022", "#1ba3b8"];

  muster.category = (i) => CATEGORIES[i % CATEGORIES.length];

  muster.State = class {
    constructor(model) {
      this.model = model;
      this.listeners = new Map();
      this.brushes = this.rangesOfAddress(); // column name -> {low, high}, places on its axis
      this.where = muster.address.get("where");
      this.conditions = [];
      this.problem = "";
      this.lit = -1;
      this.pinned = false;
      this.sort = null;
      const row = model.rowOf.get(muster.address.get("row"));
      if (row !== undefined) [this.lit, this.pinned] = [row, true];
      this.logs = this.logsOfAddress(); // column name -> whether its axis is logarithmic, where that was chosen
      for (const [name, on] of this.logs) model.column(name).scale = on ? "log" : "linear";
      const mean = muster.address.get("mean");
      this.meanOver = (model.column(mean) || {}).role === "param" ? mean : ""; // the parameter; empty: each row by itself
      const colour = muster.address.get("colour");
      this.colourBy = model.column(colour) ? colour : this.firstColour();
      this.applyWhere();
      this.filter();
      this.paint();
    }

    on(event, call) {
      if (!this.listeners.has(event)) this.listeners.set(event, []);
      this.listeners.get(event).push(call);
    }
    emit(event, detail) {
      for (const call of this.listeners.get(event) || []) call(detail);
    }

    firstColour() {
      const model = this.model;
      if (model.kind === "compare" && model.column("source")) return "source";
      if (model.objective && model.objective.given) return "value";
      return model.column("state") ? "state" : (model.columns[0] || {}).name;
    }

    rangesOfAddress() {
      const ranges = new Map();
      try {
        for (const [name, low, high] of JSON.parse(muster.address.get("ranges") || "[]")) {
          if (this.model.column(name) && Number.isFinite(low) && Number.isFinite(high)) ranges.set(name, { low, high });
        }
      } catch {
        // an address that was shortened
      }
      return ranges;
    }
    rangesToAddress() {
      muster.address.set("ranges", this.brushes.size ? JSON.stringify([...this.brushes].map(([name, { low, high }]) => [name, low, high])) : "");
    }

    logsOfAddress() {
      const logs = new Map();
      try {
        for (const [name, on] of JSON.parse(muster.address.get("log") || "[]")) {
          if (this.model.column(name)) logs.set(name, Boolean(on));
        }
      } catch {
        // an address that was shortened
      }
      return logs;
    }
    setLog(name, on) {
      this.logs.set(name, on);
      this.model.column(name).scale = on ? "log" : "linear";
      muster.address.set("log", JSON.stringify([...this.logs].map(([column, log]) => [column, log ? 1 : 0])));
      this.emit("scale");
    }

    setMeanOver(name) {
      this.meanOver = name;
      muster.address.set("mean", name);
      this.emit("mean");
    }

    // --- which rows are visible

    filter() {
      const { model } = this;
      const count = model.count;
      if (this.passes.length !== count) this.applyWhere();
      const visible = Uint8Array.from(this.passes);
      for (const [name, { low, high }] of this.brushes) {
        const column = model.column(name);
        if (!column) continue;
        const numbers = column.numbers;
        for (let row = 0; row < count; row++) {
          if (!(numbers[row] >= low && numbers[row] <= high)) visible[row] = 0;
        }
      }
      this.visible = visible;
      const rows = [];
      for (let row = 0; row < count; row++) if (visible[row]) rows.push(row);
      this.rows = rows;
    }

    applyWhere() {
      this.problem = "";
      try {
        this.conditions = this.where.trim() === "" ? [] : muster.parseWhere(this.where);
        this.passes = muster.rowsWhere(this.model, this.conditions);
      } catch (error) {
        this.problem = error.message;
        this.passes = new Uint8Array(this.model.count).fill(1);
      }
    }

    setWhere(text) {
      this.where = text;
      muster.address.set("where", text);
      this.applyWhere();
      this.filter();
      this.emit("rows", {});
    }
    // `moving`: the brush is being dragged; expensive views may wait for its end.
    setBrush(name, range, moving = false) {
      if (range) this.brushes.set(name, range);
      else this.brushes.delete(name);
      this.rangesToAddress();
      this.filter();
      this.emit("rows", { moving });
    }
    clearBrushes() {
      this.brushes.clear();
      this.rangesToAddress();
      this.filter();
      this.emit("rows", {});
    }

    // --- the lit row

    light(row) {
      if (this.pinned || row === this.lit) return;
      this.lit = row;
      this.emit("lit");
    }
    pin(row) {
      this.pinned = row >= 0 && !(this.pinned && row === this.lit);
      this.lit = row;
      muster.address.set("row", this.pinned ? this.model.keys[row] : "");
      this.emit("lit");
    }

    // --- colours

    setColour(name) {
      this.colourBy = name;
      muster.address.set("colour", name);
      this.paint();
      this.emit("colour");
    }

    paint() {
      const { model } = this;
      const column = model.column(this.colourBy);
      const dark = muster.isDark();
      const colours = new Array(model.count).fill(dark ? "#8894a5" : "#7a8594");
      this.legend = { column, entries: [], ramp: null };
      if (column && column.numeric) {
        // By rank, so that one extreme value does not make all others alike. The best value has the strongest colour.
        const sorted = Array.from(column.numbers).filter(Number.isFinite).sort(d3.ascending);
        const better = column.name === "value" && model.maximize ? 1 : column.name === "value" ? 0 : 1;
        const ramp = (part) => {
          const strength = better ? part : 1 - part;
          return dark ? d3.interpolateViridis(0.25 + 0.75 * strength) : d3.interpolateViridis(0.88 - 0.88 * strength);
        };
        const last = Math.max(1, sorted.length - 1);
        column.numbers.forEach((number, row) => {
          if (Number.isFinite(number)) colours[row] = ramp(d3.bisectLeft(sorted, number) / last);
        });
        if (sorted.length) this.legend = { column, entries: [], ramp, low: sorted[0], middle: d3.quantileSorted(sorted, 0.5), high: sorted[sorted.length - 1] };
      } else if (column) {
        const colourOf = (i, text) => muster.stateColour(text) || CATEGORIES[i % CATEGORIES.length];
        column.numbers.forEach((code, row) => {
          if (code >= 0) colours[row] = colourOf(code, column.choices[code]);
        });
        const shown = 12;
        this.legend.entries = column.choices.slice(0, shown).map((text, i) => [text, colourOf(i, text)]);
        this.legend.more = Math.max(0, column.choices.length - shown);
      }
      this.colours = colours.map((colour) => d3.color(colour).hex());
      // As pixels of an ImageData, in the byte order of every machine that runs browsers.
      this.pixels = Uint32Array.from(this.colours, (hex) => {
        const { r, g, b } = d3.rgb(hex);
        return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
      });
    }
  };

  muster.isDark = () => matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;

  const STATES = {
    ok: "#2f9e62", running: "#3b78c3", stopped: "#8a93a0", paused: "#7a86b8", interrupted: "#b4a13c", lost: "#a0522d", again: "#d8902a",
    origin: "#c9403c", victim: "#d8902a", not_started: "#b8bec7", failed: "#c9403c", starting: "#9fb8d8", ready: "#3b78c3",
    oom_device: "#b5338a", oom_host: "#8d4bb0", diverged: "#e08214", timeout: "#8c6d46", host_lost: "#a0522d",
    preempted: "#5f7c8a", user_error: "#c9603c", crash: "#c9403c", stalled: "#6b6b9e", no_result: "#a59a86", infeasible: "#7a8f3a",
  };
  muster.stateColour = (state) => STATES[state];
})();
