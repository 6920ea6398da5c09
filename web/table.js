// The table of trials, processes or runs: sorted by any column, with columns of choice, and saved as CSV. Only the rows
// in view are in the document, so that thousands stay smooth.
"use strict";

(() => {
  const ROW = 28;
  const TEXT = 42; // characters of a parameter
  const MOST_ON_PAPER = 200;

  // Numbers before texts, missing values last, whatever the direction.
  const compare = (a, b, descending) => {
    const missing = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    const numbers = (typeof b === "number") - (typeof a === "number");
    const order = numbers || (a < b ? -1 : a > b ? 1 : 0);
    return descending ? -order : order;
  };

  const shownAtFirst = (model) => {
    const has = (column) => column && column.given > 0;
    const facts = (names) => names.map((name) => model.column(name)).filter(has);
    if (model.kind === "run") return facts(["process", "rank", "host", "devices", "state", "attempts", "exit", "seconds", "max_rss", "cpu"]);
    const params = model.columns.filter((column) => column.role === "param" && column.varies && has(column));
    const hosts = model.column("hosts");
    return [
      ...facts(model.sources.length > 1 ? ["source"] : []),
      ...facts(["trial"]),
      ...params.slice(0, 10),
      ...facts(["value", "state", "took"]),
      ...(model.objective ? [] : model.columns.filter((column) => column.role === "metric").slice(0, 6)),
      ...(has(hosts) && hosts.varies ? [hosts] : []),
      ...(model.column("why") && has(model.column("why")) ? [model.column("why")] : []),
    ];
  };

  // The columns that the address names; nothing without any.
  const chosen = (model, name) => {
    try {
      const columns = JSON.parse(muster.address.get(name) || "[]").map((one) => model.column(one)).filter(Boolean);
      return columns.length ? columns : null;
    } catch {
      return null; // an address that was shortened
    }
  };

  muster.view({
    id: "table",
    title: "Table",
    kinds: ["sweep", "compare", "run"],
    wide: true,
    when: (model) => model.count > 0,
    build(section, { model, state }) {
      let shown = chosen(model, "columns") || shownAtFirst(model);
      let rows = [];
      let onPaper = false;
      const sort = { column: null, descending: false };
      if (model.kind !== "run" && model.objective && model.objective.given) {
        sort.column = model.objective;
        sort.descending = model.maximize;
      }
      const [by] = chosen(model, "sort") || [];
      if (by) [sort.column, sort.descending] = [by, muster.address.get("descending") === "1"];

      const status = muster.el("span", { class: "count", role: "status" });
      const chooser = muster.el("details", { class: "chooser" }, muster.el("summary", {}, "columns"));
      const save = muster.el("button", { type: "button", id: "csv", onclick: () => download() }, "Save as CSV");
      section.append(muster.el("div", { class: "controls" }, status, chooser, save));
      const head = muster.el("tr", {});
      const body = muster.el("tbody", {});
      const table = muster.el("table", { class: "rows", "aria-label": "rows" }, muster.el("thead", {}, head), body);
      const scroller = muster.el("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": "table: arrows move the selected row, Enter keeps it" }, table);
      const rest = muster.el("p", { class: "hint" });
      section.append(scroller, rest);

      const fillChooser = () => {
        const boxes = model.columns.map((column) =>
          muster.check(column.label === column.name ? column.name : `${column.label} (${column.name})`, shown.includes(column), (on) => {
            shown = on ? model.columns.filter((one) => one === column || shown.includes(one)) : shown.filter((one) => one !== column);
            muster.address.set("columns", JSON.stringify(shown.map((one) => one.name)));
            tell();
            fillHead();
            fillBody(true);
          }));
        const summary = muster.el("summary", {});
        const tell = () => { summary.textContent = `columns: ${muster.count(shown.length)} of ${muster.count(model.columns.length)}`; };
        tell();
        chooser.replaceChildren(summary, muster.el("div", { class: "choices" }, boxes));
      };

      const fillHead = () => {
        head.replaceChildren(...shown.map((column) => {
          const sorted = sort.column === column;
          const mark = sorted ? (sort.descending ? " ▼" : " ▲") : "";
          const button = muster.el("button", { type: "button", "data-column": column.name, onclick: () => sortBy(column) }, column.label + mark);
          return muster.el("th", { scope: "col", class: column.numeric ? "number" : null, "aria-sort": sorted ? (sort.descending ? "descending" : "ascending") : "none" }, button);
        }));
      };

      const sortBy = (column) => {
        sort.descending = sort.column === column && !sort.descending;
        sort.column = column;
        muster.address.set("sort", JSON.stringify([column.name]));
        muster.address.set("descending", sort.descending ? "1" : "");
        order();
        fillHead();
        fillBody(true);
        const button = head.querySelector(`[data-column="${CSS.escape(column.name)}"]`);
        if (button) button.focus();
      };

      const order = () => {
        rows = [...state.rows];
        if (sort.column) {
          const { values } = sort.column;
          rows.sort((a, b) => compare(values[a], values[b], sort.descending) || a - b);
        }
        status.textContent = `${muster.count(rows.length)} of ${muster.plural(model.count, model.kind === "run" ? "process" : "row")}`.replace("processs", "processes");
      };

      let from = -1;
      let to = -1;
      function fillBody(force) {
        const first = onPaper ? 0 : Math.max(0, Math.floor(scroller.scrollTop / ROW) - 5);
        const last = onPaper ? Math.min(rows.length, MOST_ON_PAPER) : Math.min(rows.length, first + Math.ceil(Math.max(scroller.clientHeight, 460) / ROW) + 10);
        if (!force && first === from && last === to) return;
        [from, to] = [first, last];
        const gap = (height) => {
          const row = muster.el("tr", { class: "gap", "aria-hidden": "true" }, muster.el("td", { colspan: shown.length }));
          row.firstChild.style.height = `${height}px`;
          return row;
        };
        const lines = rows.slice(first, last).map((row, i) => {
          const cells = shown.map((column) => {
            const value = column.values[row];
            const whole = column.unit === "seconds" ? muster.duration(value) : muster.number(value);
            const text = column.role === "param" && !column.numeric ? column.short(whole, TEXT) : whole;
            const cell = muster.el("td", { class: column.numeric ? "number" : null, title: whole.length > 30 ? whole : null }, text);
            if (column.name === "state" && muster.stateColour(text)) {
              const dot = muster.el("i", { class: "dot", "aria-hidden": "true" });
              dot.style.background = muster.stateColour(text);
              cell.prepend(dot);
            }
            return cell;
          });
          const line = muster.el("tr", { "data-row": row, "aria-rowindex": first + i + 2, class: row === state.lit ? "lit" : null }, cells);
          return line;
        });
        table.setAttribute("aria-rowcount", rows.length + 1);
        rest.textContent = onPaper && rows.length > last ? `and ${muster.count(rows.length - last)} more` : "";
        const top = onPaper || first === 0 ? [] : [gap(first * ROW)];
        const bottom = onPaper || last === rows.length ? [] : [gap((rows.length - last) * ROW)];
        body.replaceChildren(...top, ...lines, ...bottom);
      }

      const showLit = () => {
        for (const line of body.children) line.classList.toggle("lit", line.dataset.row !== undefined && Number(line.dataset.row) === state.lit);
      };

      const reach = (row) => {
        const i = rows.indexOf(row);
        if (i < 0) return;
        const top = i * ROW;
        if (top < scroller.scrollTop) scroller.scrollTop = top;
        else if (top + 3 * ROW > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + 3 * ROW - scroller.clientHeight;
      };

      scroller.addEventListener("scroll", () => requestAnimationFrame(() => fillBody(false)));
      scroller.addEventListener("keydown", (event) => {
        if (event.target !== scroller) return;
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }[event.key];
        if (steps !== undefined && rows.length) {
          const at = rows.indexOf(state.lit);
          const row = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? (steps > 1e6 ? rows.length : 0) : at + steps))];
          state.pinned = false;
          reach(row);
          fillBody(false);
          state.light(row);
        } else if (event.key === "Enter") {
          state.pin(state.lit);
        } else {
          return;
        }
        event.preventDefault();
      });
      const rowAt = (event) => {
        const line = event.target.closest("tr[data-row]");
        return line ? Number(line.dataset.row) : -1;
      };
      body.addEventListener("pointermove", (event) => state.light(rowAt(event)));
      body.addEventListener("pointerleave", () => state.light(-1));
      body.addEventListener("click", (event) => state.pin(rowAt(event)));

      // What the table shows: its rows and columns.
      muster.tableCsv = () => muster.csv(shown.map((column) => column.name), rows.map((row) => shown.map((column) => column.values[row])));
      const download = () => {
        const link = muster.el("a", { href: URL.createObjectURL(new Blob([muster.tableCsv()], { type: "text/csv" })), download: `${model.data.title.replace(/[^\w.-]+/g, "_")}.csv` });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      };

      const all = () => {
        order();
        fillBody(true);
      };
      let later = 0;
      state.on("rows", ({ moving }) => {
        clearTimeout(later);
        if (moving) later = setTimeout(all, 250);
        else all();
      });
      state.on("lit", () => {
        showLit();
        if (state.pinned) {
          reach(state.lit);
          fillBody(false);
        }
      });
      state.on("data", () => {
        if (shown.length === 0) shown = shownAtFirst(model);
        fillChooser();
        fillHead();
        all();
      });
      fillChooser();
      fillHead();
      all();
      return {
        plots: [],
        forPrint(printing) {
          onPaper = printing;
          fillBody(true);
        },
      };
    },
  });
})();
