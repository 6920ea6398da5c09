// Canvases that follow the width of their section, axes drawn on them, and the nearest row to the pointer.
"use strict";

(() => {
  // The sections of the page, in their order: {id, title, kinds, wide, when(model), build(section, page)}.
  muster.views = [];
  muster.view = (view) => muster.views.push(view);

  const LEAST_TICKS = 3; // texts at a logarithmic axis

  muster.theme = () => {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    return { ink: of("--ink"), soft: of("--soft"), line: of("--line"), panel: of("--panel"), accent: of("--accent"), faint: of("--faint") };
  };

  // A plot with one or more canvases on top of each other. `draw(name)` is called once per frame for each canvas that was
  // marked by redraw(name). `describe()` gives the text for readers who cannot see it.
  muster.Plot = class {
    constructor(parent, { height, layers = ["main"], label, draw, describe }) {
      this.box = muster.el("div", { class: "plot", role: "img", "aria-label": label });
      this.height = height;
      this.draw = draw;
      this.describe = describe;
      this.waiting = new Set();
      this.layers = new Map();
      for (const name of layers) {
        const canvas = muster.el("canvas", { "aria-hidden": "true" });
        this.box.append(canvas);
        this.layers.set(name, { canvas, context: canvas.getContext("2d") });
      }
      parent.append(this.box);
      new ResizeObserver(() => this.fit()).observe(this.box);
      this.fit();
    }

    fit() {
      const scale = this.printing ? 2 : Math.max(1, devicePixelRatio || 1);
      const width = Math.max(200, Math.floor(this.box.clientWidth));
      if (width === this.width && scale === this.scale && this.height === this.fitted) return;
      this.width = width;
      this.scale = scale;
      this.fitted = this.height;
      this.box.style.height = `${this.height}px`;
      for (const { canvas } of this.layers.values()) {
        canvas.width = width * scale;
        canvas.height = this.height * scale;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${this.height}px`;
      }
      this.redraw();
    }

    redraw(...names) {
      if (this.waiting.size === 0) requestAnimationFrame(() => this.flush());
      for (const name of names.length ? names : this.layers.keys()) this.waiting.add(name);
    }

    flush() {
      const names = [...this.layers.keys()].filter((name) => this.waiting.has(name));
      this.waiting.clear();
      for (const name of names) {
        const { context } = this.layers.get(name);
        context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
        context.clearRect(0, 0, this.width, this.height);
        context.font = "12px system-ui, sans-serif";
        this.draw(context, name, this);
      }
      if (this.describe) this.box.setAttribute("aria-label", this.describe());
    }

    // Redraws at twice the resolution for paper, and back.
    forPrint(printing) {
      this.printing = printing;
      this.fit();
      this.flush();
    }

    pointer(event) {
      const { left, top } = this.box.getBoundingClientRect();
      return [event.clientX - left, event.clientY - top];
    }
  };

  // The first digits of the numbers that a logarithmic axis has texts at: powers of ten, and 2 and 5, or all, if there
  // were less than three texts.
  const digitsOf = (scale) => {
    const [low, high] = d3.extent(scale.domain());
    const within = (digits) => d3.sum(d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1), (power) =>
      d3.sum(digits, (digit) => digit * 10 ** power >= low * (1 - 1e-9) && digit * 10 ** power <= high * (1 + 1e-9)));
    return [[1], [1, 2, 5], d3.range(1, 10)].find((digits) => within(digits) >= LEAST_TICKS) || [];
  };

  muster.tickText = (scale) => {
    if (scale.base) {
      const digits = digitsOf(scale);
      return (value) => {
        const digit = value / Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
        return digits.some((one) => Math.abs(digit - one) < 1e-6) ? muster.number(value) : "";
      };
    }
    return scale.tickFormat ? (value) => muster.number(value) : (value) => String(value);
  };

  // Ticks with texts, not closer than `gap` pixels. `whole`: only whole numbers have one.
  muster.ticksOf = (scale, column, gap, whole = false) => {
    if (column && !column.numeric) {
      const step = Math.max(1, Math.ceil(gap / Math.max(1, scale.step())));
      return column.choices.map((text, i) => [scale(i), text]).filter((_, i) => i % step === 0);
    }
    const [from, to] = scale.range();
    const text = muster.tickText(scale);
    // Few different values: a tick at each of them.
    if (column && column.few) {
      const shown = [];
      for (const value of column.few) {
        if (shown.every(([at]) => Math.abs(at - scale(value)) > Math.min(gap * 0.6, 22))) shown.push([scale(value), muster.number(value)]);
      }
      return shown;
    }
    whole = whole || (column && column.values && column.values.every((value) => value === null || Number.isInteger(value)));
    const most = Math.max(2, Math.floor(Math.abs(to - from) / gap));
    // Less than three numbers with one digit: numbers as on a linear axis.
    if (scale.base && digitsOf(scale).length === 0) {
      return d3.ticks(...d3.extent(scale.domain()), Math.max(LEAST_TICKS, most)).map((value) => [scale(value), muster.number(value)]);
    }
    const values = scale.ticks(scale.base ? Math.max(most, 10) : most);
    return values.filter((value) => !whole || Number.isInteger(value)).map((value) => [scale(value), text(value)]);
  };

  // The control for a logarithmic axis of a column of numbers.
  muster.logCheck = (state, column) => (column.numeric && column.leastPositive > 0 ? muster.check(`log ${shortened(column.label, 24)}`, column.logarithmic, (on) => state.setLog(column.name, on)) : "");
  // What is said about the rows that have no place on a logarithmic axis.
  muster.notAbove = (column, rows) => {
    const count = column.notAboveZero(rows);
    return count ? `and ${muster.count(count)} with a ${column.label} that is not above 0` : "";
  };

  // Shortened in the middle: names and paths differ at their ends.
  const shortened = (text, most) => {
    if (text.length <= most) return text;
    const end = Math.floor((most - 1) / 2);
    return `${text.slice(0, most - 1 - end)}…${text.slice(text.length - end)}`;
  };
  muster.shortened = shortened;
  // Shortened to so many pixels; `column`: whose text it is.
  muster.fitted = (context, text, width, column = null) => {
    const short = column && !column.numeric ? (whole, most) => column.short(whole, most) : shortened;
    if (context.measureText(text).width <= width) return text;
    let [low, high] = [1, text.length];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (context.measureText(short(text, middle)).width <= width) low = middle;
      else high = middle - 1;
    }
    return short(text, low);
  };

  const RIGHT = 14; // pixels beside a plot
  const LINE = 13; // pixels between two texts
  // The frame, ticks and names of a plot with two axes. `inner`: {left, top, right, bottom} in pixels.
  muster.drawAxes = (context, inner, x, y, { xColumn, yColumn, xName, yName, xWhole }) => {
    const theme = muster.theme();
    const { left, top, right, bottom } = inner;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    let last = Infinity;
    for (const [at, text] of muster.ticksOf(y, yColumn, 34)) {
      context.strokeStyle = theme.line;
      context.globalAlpha = text ? 1 : 0.45;
      context.beginPath();
      context.moveTo(left, Math.round(at) + 0.5);
      context.lineTo(right, Math.round(at) + 0.5);
      context.stroke();
      context.globalAlpha = 1;
      context.fillStyle = theme.soft;
      if (!text || Math.abs(at - last) < LINE) continue;
      context.fillText(yColumn && !yColumn.numeric ? muster.fitted(context, text, left - 28, yColumn) : text, left - 6, at);
      last = at;
    }
    context.textBaseline = "top";
    context.textAlign = "center";
    let end = -Infinity;
    for (const [at, text] of muster.ticksOf(x, xColumn, 70, xWhole)) {
      context.strokeStyle = theme.line;
      context.beginPath();
      context.moveTo(Math.round(at) + 0.5, bottom);
      context.lineTo(Math.round(at) + 0.5, bottom + 4);
      context.stroke();
      context.fillStyle = theme.soft;
      const short = xColumn && !xColumn.numeric ? muster.fitted(context, text, 100, xColumn) : text;
      const half = context.measureText(short).width / 2;
      const inside = Math.min(at, right + RIGHT - half); // the last one would be cut off
      if (text && inside - half > end) {
        context.fillText(short, inside, bottom + 6);
        end = inside + half + 6;
      }
    }
    context.strokeStyle = theme.soft;
    context.strokeRect(left + 0.5, top + 0.5, right - left, bottom - top);
    context.fillStyle = theme.ink;
    if (xName) context.fillText(muster.fitted(context, xName, right - left), (left + right) / 2, bottom + 22);
    if (yName) {
      context.save();
      context.translate(11, (top + bottom) / 2);
      context.rotate(-Math.PI / 2);
      context.textBaseline = "middle";
      context.fillText(muster.fitted(context, yName, bottom - top), 0, 0);
      context.restore();
    }
  };

  // A box beside the pointer. One for the whole page.
  let tip = null;
  muster.showTip = (event, lines) => {
    if (!tip) {
      tip = muster.el("div", { class: "tip", "aria-hidden": "true" });
      document.body.append(tip);
    }
    tip.replaceChildren(...lines.map((line, i) => muster.el("div", i === 0 ? { class: "first" } : {}, line)));
    tip.style.display = "block";
    const { offsetWidth: width, offsetHeight: height } = tip;
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - width - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - height - 8)}px`;
  };
  muster.hideTip = () => {
    if (tip) tip.style.display = "none";
  };

  const MOST_LINES = 12; // of the box
  // "trial 12", and what distinguishes it.
  muster.rowName = (model, row) => {
    const source = model.sources.length > 1 && model.source(row) ? `${model.source(row).label}: ` : "";
    if (model.kind === "run") return model.column("process").text(row);
    return source + (model.column("trial").values[row] === null ? "" : `trial ${model.column("trial").text(row)}`);
  };
  muster.rowLines = (model, row) => {
    const columns = [...model.columns.filter((c) => c.role === "param" && c.varies), model.objective, model.column("state")];
    const lines = columns.filter(Boolean).map((column) => `${shortened(column.label, 40)} ${shortened(muster.number(column.values[row]) || "–", 40)}`);
    const more = lines.length - MOST_LINES;
    return [muster.rowName(model, row) || model.source(row).label, ...lines.slice(0, MOST_LINES), ...(more > 0 ? [`and ${more} more`] : [])];
  };
})();
