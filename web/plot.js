// Canvases that follow the width of their section, axes drawn on them, and the nearest row to the pointer.
"use strict";

(() => {
  // The sections of the page, in their order: {id, title, kinds, wide, when(model), build(section, page)}.
  muster.views = [];
  muster.view = (view) => muster.views.push(view);

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

  muster.tickText = (scale) => {
    if (scale.base) {
      return (value) => {
        // Powers of ten; over less than two decades 2 and 5 as well, and over less than 1.3 all.
        const decades = Math.log10(scale.domain()[1] / scale.domain()[0]);
        const digit = value / Math.pow(10, Math.floor(Math.log10(value) + 1e-9));
        const near = (number) => Math.abs(digit - number) < 1e-6;
        return near(1) || decades < 1.3 || (decades < 2 && (near(2) || near(5))) ? muster.number(value) : "";
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
    const values = scale.ticks(Math.max(2, Math.floor(Math.abs(to - from) / gap)));
    return values.filter((value) => !whole || Number.isInteger(value)).map((value) => [scale(value), text(value)]);
  };

  // Shortened in the middle: names and paths differ at their ends.
  const shortened = (text, most) => {
    if (text.length <= most) return text;
    const end = Math.floor((most - 1) / 2);
    return `${text.slice(0, most - 1 - end)}…${text.slice(text.length - end)}`;
  };
  muster.shortened = shortened;

  const RIGHT = 14; // pixels beside a plot
  // The frame, ticks and names of a plot with two axes. `inner`: {left, top, right, bottom} in pixels.
  muster.drawAxes = (context, inner, x, y, { xColumn, yColumn, xName, yName, xWhole }) => {
    const theme = muster.theme();
    const { left, top, right, bottom } = inner;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const [at, text] of muster.ticksOf(y, yColumn, 34)) {
      context.strokeStyle = theme.line;
      context.globalAlpha = text ? 1 : 0.45;
      context.beginPath();
      context.moveTo(left, Math.round(at) + 0.5);
      context.lineTo(right, Math.round(at) + 0.5);
      context.stroke();
      context.globalAlpha = 1;
      context.fillStyle = theme.soft;
      if (text) context.fillText(shortened(text, 10), left - 6, at);
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
      const half = context.measureText(shortened(text, 14)).width / 2;
      const inside = Math.min(at, right + RIGHT - half); // the last one would be cut off
      if (text && inside - half > end) {
        context.fillText(shortened(text, 14), inside, bottom + 6);
        end = inside + half + 6;
      }
    }
    context.strokeStyle = theme.soft;
    context.strokeRect(left + 0.5, top + 0.5, right - left, bottom - top);
    context.fillStyle = theme.ink;
    if (xName) context.fillText(xName, (left + right) / 2, bottom + 22);
    if (yName) {
      context.save();
      context.translate(11, (top + bottom) / 2);
      context.rotate(-Math.PI / 2);
      context.textBaseline = "middle";
      context.fillText(yName, 0, 0);
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

  // "trial 12", and what distinguishes it.
  muster.rowName = (model, row) => {
    const source = model.sources.length > 1 && model.source(row) ? `${model.source(row).label}: ` : "";
    if (model.kind === "run") return model.column("process").text(row);
    return source + (model.column("trial").values[row] === null ? "" : `trial ${model.column("trial").text(row)}`);
  };
  muster.rowLines = (model, row) => {
    const columns = [...model.columns.filter((c) => c.role === "param" && c.varies), model.objective, model.column("state")];
    const lines = columns.filter(Boolean).slice(0, 12).map((column) => `${column.label} ${muster.number(column.values[row]) || "–"}`);
    return [muster.rowName(model, row) || model.source(row).label, ...lines];
  };
})();
