// Builds the page from its data. muster.render(data, base64) draws everything, muster.update(patch) adds what is new
// (src/page/write/page_data.h describes both).
"use strict";

(() => {
  const { el } = muster;
  const ORDER = ["summary", "points", "outcome", "differences", "setup", "failure", "curves", "history", "parallel", "importance", "scatter", "heatmap", "startup", "lanes", "usage", "failures", "rungs", "devices", "plan", "logs", "table"];
  const FILTERED = new Set(["sweep", "compare", "run"]);

  let page = null;

  // The bar that stays at the top: the filter, the colour, the number of rows.
  const filterBar = ({ model, state }) => {
    const input = el("input", { type: "text", id: "where", spellcheck: "false", autocomplete: "off", placeholder: model.kind === "run" ? "state == origin and rank < 8" : "state == ok and lr < 0.01", "aria-label": "filter, as in ls --where", "aria-describedby": "problem" });
    const problem = el("span", { id: "problem", class: "problem", role: "alert" });
    const count = el("span", { class: "count", id: "count", role: "status" });
    const brushes = el("span", { class: "brushes" });
    const legend = el("span", { class: "colours" });
    const colours = el("span", {});
    let brushed = "";
    const show = () => {
      count.textContent = `${muster.count(state.rows.length)} of ${muster.count(model.count)} shown`;
      problem.textContent = state.problem;
      input.setAttribute("aria-invalid", state.problem ? "true" : "false");
      const names = JSON.stringify([...state.brushes.keys()]);
      if (names === brushed) return;
      brushed = names;
      brushes.replaceChildren(...[...state.brushes.keys()].map((name) =>
        el("button", { type: "button", class: "tag", title: "remove this range", onclick: () => state.setBrush(name, null) }, `${(model.column(name) || { label: name }).label} ✕`)));
    };
    const showColours = () => {
      const columns = model.plottable();
      colours.replaceChildren(columns.length ? muster.select("colour", columns.map((column) => [column.name, column.label]), state.colourBy, (name) => state.setColour(name)) : "");
      const { entries, ramp, low, middle, high } = state.legend;
      legend.replaceChildren(...entries.map(([text, colour]) => {
        const dot = el("i", { class: "dot" });
        dot.style.background = colour;
        return el("span", {}, dot, state.legend.column.short(text, 24));
      }), state.legend.more ? el("span", {}, `and ${state.legend.more} more`) : "");
      if (ramp) {
        const strip = el("i", { class: "ramp" });
        strip.style.background = `linear-gradient(90deg, ${d3.range(11).map((i) => ramp(i / 10)).join(", ")})`;
        legend.replaceChildren(el("span", {}, muster.number(low), strip, muster.number(middle), " median, ", muster.number(high)));
      }
    };
    input.value = state.where;
    input.addEventListener("input", () => state.setWhere(input.value));
    state.on("rows", show);
    state.on("data", () => {
      show();
      showColours();
    });
    state.on("colour", showColours);
    show();
    showColours();
    const clear = el("button", { type: "button", id: "clear", onclick: () => {
      input.value = "";
      state.setWhere("");
      state.clearBrushes();
    } }, "Clear");
    return el("div", { class: "filter", role: "search" }, el("label", { class: "field grow" }, el("span", {}, "filter"), input), clear, count, brushes, problem, colours, legend);
  };

  const headline = (data) => {
    const only = data.kind === "run" ? data.run : data.sources.length === 1 ? data.sources[0] : null;
    const state = only ? muster.stateOf(only) : null;
    return el("header", {},
      el("h1", {}, data.title, state ? " " : "", state ? muster.chip(state) : ""),
      only && only.doc ? el("p", { class: "doc" }, only.doc) : "",
      only && only.command ? el("p", { class: "mono soft command" }, only.command) : "",
      data.live ? el("p", { class: "soft", id: "live", role: "status" }, "running when this page was made") : "");
  };

  muster.render = (data, base64) => {
    const model = new muster.Model(data, base64);
    const state = new muster.State(model);
    page = { model, state, views: new Map() };
    const root = document.getElementById("page");
    root.replaceChildren(headline(data));
    if (FILTERED.has(data.kind) && model.count > 1) root.append(filterBar(page));
    const main = el("main", {});
    root.append(main);
    root.append(el("footer", {}, `Made ${muster.time(data.made)} by muster ${data.muster} from the journal and the files of the folder. `, el("span", { class: "soft" }, data.kind === "run" ? data.run.dir : data.sources.map((source) => source.dir).join(", "))));
    page.root = main;
    muster.page = page;
    delete root.dataset.ready;
    placeNext(page);
  };

  // One section after the other; the first one is seen before the next one is built. Hidden pages have no frames.
  const placeNext = (of) => {
    if (of !== page) return;
    if (!place(1)) {
      document.getElementById("page").dataset.ready = "true";
    } else if (of.views.size === 1 && !document.hidden) {
      requestAnimationFrame(() => setTimeout(() => placeNext(of), 0));
    } else {
      setTimeout(() => placeNext(of), 0);
    }
  };

  // Builds sections that the data has and the page has not, in their order, at most `most`; whether it built one.
  const place = (most = Infinity) => {
    let built = 0;
    const wanted = ORDER.map((id) => muster.views.find((view) => view.id === id)).filter((view) => view && view.kinds.includes(page.model.kind));
    for (const view of wanted) {
      if (page.views.has(view.id) || (view.when && !view.when(page.model))) continue;
      if (built++ === most) return true;
      const section = el("section", { id: view.id, class: view.wide ? "wide" : null, "aria-labelledby": view.title ? `${view.id}-title` : null, "aria-label": view.title ? null : view.id });
      if (view.title) section.append(el("h2", { id: `${view.id}-title` }, view.title));
      const next = wanted.slice(wanted.indexOf(view) + 1).map((one) => document.getElementById(one.id)).find(Boolean);
      page.root.insertBefore(section, next || null);
      page.views.set(view.id, view.build(section, page) || { plots: [] });
    }
    if (built) fillRows();
    return built > 0;
  };

  // Sections of half the width come in pairs: the last one of an odd number of them fills its row.
  const fillRows = () => {
    let half = [];
    const end = () => {
      half.forEach((section, i) => section.classList.toggle("fill", i + 1 === half.length && i % 2 === 0));
      half = [];
    };
    for (const section of page.root.children) {
      if (section.classList.contains("wide")) end();
      else half.push(section);
    }
    end();
  };

  muster.update = (patch) => {
    const { model, state } = page;
    model.update(patch);
    state.applyWhere();
    state.filter();
    state.paint();
    state.emit("data");
    place();
  };

  const forPrint = (printing) => {
    if (!page) return;
    page.state.paint();
    for (const view of page.views.values()) {
      for (const plot of view.plots || []) plot.forPrint(printing);
      if (view.forPrint) view.forPrint(printing);
    }
  };
  addEventListener("beforeprint", () => forPrint(true));
  addEventListener("afterprint", () => forPrint(false));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (!page) return;
    page.state.paint();
    page.state.emit("colour");
    page.state.emit("theme");
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && page && page.state.pinned) page.state.pin(-1);
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      const input = document.getElementById("where");
      if (!input) return;
      event.preventDefault();
      input.focus();
    }
  });

  const data = document.getElementById("page-data");
  if (data) muster.render(JSON.parse(data.textContent), document.getElementById("page-floats").textContent);
})();
