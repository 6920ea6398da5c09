// Filters with the meaning of `ls --where`: NAME OP VALUE, or NAME alone, joined by "and". The same as
// src/cli/lookup/run_list.cc.
"use strict";

(() => {
  const OPERATORS = ["==", "!=", "<=", ">=", "=", "<", ">", "~"];

  const tokensOf = (text) => {
    const tokens = [];
    while (text) {
      const first = text[0];
      if (/[ \t\n]/.test(first)) {
        text = text.slice(1);
      } else if (first === '"' || first === "'") {
        const end = text.indexOf(first, 1);
        if (end < 0) throw new Error(`the ${first} is not closed`);
        tokens.push({ kind: "quoted", text: text.slice(1, end) });
        text = text.slice(end + 1);
      } else {
        const operator = OPERATORS.find((one) => text.startsWith(one));
        const word = operator || /^[^ \t\n"'=!<>~]*/.exec(text)[0] || first;
        tokens.push({ kind: operator ? "operator" : "word", text: word });
        text = text.slice(word.length);
      }
    }
    return tokens;
  };

  const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
  const numberOf = (text) => (NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined);

  const valueOf = ({ kind, text }) => {
    if (kind === "quoted") return text;
    if (text === "true" || text === "false") return text === "true";
    const number = numberOf(text);
    return number === undefined ? text : number;
  };

  const SECONDS = { ms: 0.001, s: 1, m: 60, min: 60, h: 3600, d: 86400 };
  const BYTES = { B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };
  // "1h30m" in seconds, "3.5GB" in bytes.
  const quantity = (text) => {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|min|[smhd])/g)];
    if (parts.length && parts.map((part) => part[0]).join("") === text) {
      return d3.sum(parts, (part) => Number(part[1]) * SECONDS[part[2]]);
    }
    const bytes = /^(\d+(?:\.\d+)?)(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$/.exec(text);
    return bytes ? Number(bytes[1]) * BYTES[bytes[2]] : undefined;
  };

  // -1, 0 or 1; undefined if the two cannot be compared.
  const compare = (a, b) => {
    const order = (x, y) => (x < y ? -1 : y < x ? 1 : 0);
    if (typeof a === typeof b) return order(a, b);
    if (typeof a === "number" && typeof b === "string") {
      const number = quantity(b);
      if (number !== undefined) return order(a, number);
    }
    if (typeof a === "string" && typeof b === "number") {
      const number = numberOf(a);
      if (number !== undefined) return order(number, b);
    }
    return undefined;
  };

  const TESTS = {
    "==": (order) => order === 0,
    "=": (order) => order === 0,
    "!=": (order) => order !== 0,
    "<": (order) => order < 0,
    "<=": (order) => order <= 0,
    ">": (order) => order > 0,
    ">=": (order) => order >= 0,
  };

  const holds = ({ op, value: wanted, pattern }, value) => {
    const missing = value === null || value === undefined;
    if (!op) return typeof value === "boolean" ? value : !missing && value !== "";
    if (op === "~") return !missing && pattern.test(String(value));
    const order = missing ? undefined : compare(value, wanted);
    return order === undefined ? op === "!=" : TESTS[op](order);
  };

  // Conditions that all have to hold. Throws an Error whose message says what is wrong.
  muster.parseWhere = (text) => {
    const tokens = tokensOf(text);
    const conditions = [];
    for (let i = 0; i < tokens.length; ) {
      if (tokens[i].kind !== "word") throw new Error(`expected a name, got "${tokens[i].text}"`);
      const condition = { name: tokens[i++].text };
      if (i < tokens.length && tokens[i].kind === "operator") {
        condition.op = tokens[i++].text;
        if (i === tokens.length || tokens[i].kind === "operator") {
          throw new Error(`expected a value after ${condition.name} ${condition.op}`);
        }
        condition.value = valueOf(tokens[i++]);
        if (condition.op === "~") condition.pattern = muster.patternOf(String(condition.value));
      }
      conditions.push(condition);
      if (i === tokens.length) return conditions;
      if (["or", "not"].includes(tokens[i].text)) {
        throw new Error(`there is no "${tokens[i].text}": conditions all have to hold`);
      }
      if (tokens[i].kind !== "word" || tokens[i].text !== "and") {
        throw new Error(`expected "and", got "${tokens[i].text}"`);
      }
      if (++i === tokens.length) throw new Error("expected a condition");
    }
    return conditions;
  };

  // The column of a name as in `ls --where`: param.NAME, metric.NAME and tag.NAME select one of several with the same
  // name, `tag` is a list of all tags.
  muster.columnOf = (model, name) => {
    const [, role, rest] = /^(param|metric|tag)\.(.*)$/.exec(name) || [];
    const of = (wanted, label) => model.columns.find((column) => column.role === wanted && (column.label === label || column.name === label));
    const own = model.column(name === "tag" ? "tags" : name);
    const found = (role && of(role, rest)) || (own && own.role !== "metric" && own) || of("param", name) || of("tag", name) || own ||
      model.columns.find((column) => column.label === name);
    // Without any tags it is a list of nothing.
    return found || (role === "tag" || name === "tag" || name === "tags" ? { values: [] } : undefined);
  };

  // Which rows satisfy the conditions, as 0 and 1. Throws for a name that no row has.
  muster.rowsWhere = (model, conditions) => {
    const passes = new Uint8Array(model.count).fill(1);
    for (const condition of conditions) {
      const column = muster.columnOf(model, condition.name);
      if (!column) throw new Error(`there is no column "${condition.name}"`);
      for (let row = 0; row < passes.length; row++) {
        const value = column.values[row];
        const parts = column.list && typeof value === "string" ? value.split(",") : [value];
        const one = (part) => holds(condition, part);
        if (!(condition.op === "!=" ? parts.every(one) : parts.some(one))) passes[row] = 0;
      }
    }
    return passes;
  };
})();
