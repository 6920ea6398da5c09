// Texts for numbers and times, and the smoothing of curves.
"use strict";

(() => {
  muster.number = (value) => {
    if (value === null || value === undefined || value === "") return "";
    if (typeof value !== "number") return String(value);
    if (Number.isNaN(value)) return "";
    if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
    const size = Math.abs(value);
    if (size < 1e-4 || size >= 1e7) return String(Number(value.toPrecision(4)).toExponential()).replace("e+", "e");
    return String(Number(value.toPrecision(5)));
  };

  muster.duration = (seconds) => {
    if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "";
    if (seconds < 0.0995) return `${muster.number(Number((seconds * 1000).toPrecision(2)))} ms`;
    if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`;
    const whole = Math.round(seconds);
    const parts = [
      [Math.floor(whole / 86400), "d"],
      [Math.floor(whole / 3600) % 24, "h"],
      [Math.floor(whole / 60) % 60, "min"],
      [whole % 60, "s"],
    ].filter(([n]) => n > 0);
    return parts.slice(0, 2).map(([n, unit]) => `${n} ${unit}`).join(" ");
  };

  muster.time = (utc) => (utc ? utc.replace("T", " ").replace(/(\.\d+)?Z$/, "") + " UTC" : "");

  // With a comma between thousands. The browser's own function takes long at its first call: it loads its languages.
  muster.count = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
  // Of a long list the first ones, and how many more there are.
  muster.listed = (texts, most) => texts.slice(0, most).join(", ") + (texts.length > most ? ` and ${muster.count(texts.length - most)} more` : "");
  muster.plural = (count, word) => `${muster.count(count)} ${word}${count === 1 ? "" : "s"}`;

  // The debiased exponential moving average of TensorBoard (line_chart_v2/data_transformer.ts): values that are not
  // finite and constant series are unchanged. The values that were left out before one count as so many of their mean.
  muster.smooth = (y, weight, { leftOut = null, mean = null } = {}) => {
    if (weight <= 0 || y.length === 0 || y.every((value) => value === y[0])) return y;
    let last = 0;
    let count = 0;
    const add = (value, times) => {
      const kept = Math.pow(weight, times);
      last = last * kept + (1 - kept) * value;
      count += times;
    };
    return Float32Array.from(y, (value, i) => {
      if (!Number.isFinite(value)) return value;
      if (leftOut && leftOut[i]) add(mean[i], leftOut[i]);
      add(value, 1);
      return last / (1 - Math.pow(weight, count));
    });
  };

  // An element with attributes and children; texts become text nodes, so nothing in them is markup.
  muster.el = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === undefined || value === null || value === false) continue;
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
  };

  muster.select = (label, options, chosen, change) => {
    const select = muster.el("select", { "aria-label": label, onchange: () => change(select.value) });
    for (const [value, text] of options) {
      select.append(muster.el("option", { value, selected: value === chosen }, text));
    }
    return muster.el("label", { class: "field" }, muster.el("span", {}, label), select);
  };

  muster.check = (label, checked, change) => {
    const input = muster.el("input", { type: "checkbox", checked, onchange: () => change(input.checked) });
    return muster.el("label", { class: "check" }, input, label);
  };

  // CSV by RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe.
  muster.csv = (header, rows) => {
    const cell = (value) => {
      if (value === null || value === undefined) return "";
      let text = String(value);
      if (typeof value !== "number" && /^[=+@\t\r-]/.test(text) && !isFinite(text)) text = "'" + text;
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [header, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
  };
})();
