// Regular expressions as `ls --where` understands them (RE2, https://github.com/google/re2/wiki/Syntax), written as the
// browser's. What the two understand in different ways is translated; what one of them lacks is refused.
"use strict";

(() => {
  const SPACES = "\\t\\n\\f\\r ";
  const CONTROL = { a: "\\x07", f: "\\f", n: "\\n", r: "\\r", t: "\\t", v: "\\v" };
  const MOST_REPEATED = 1000;

  const literal = (character) => (/[a-zA-Z0-9_]/.test(character) || character > "~" ? character : `\\u{${character.codePointAt(0).toString(16)}}`);
  const refuse = (what) => {
    throw new Error(`${what} is not supported here`);
  };

  // An escape behind a backslash: [its length, the browser's text].
  const escapeOf = (rest, inClass) => {
    const first = rest[0];
    if (first === undefined) throw new Error("the expression ends with a backslash");
    const hex = /^x(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]{1,6})\})/.exec(rest);
    if (hex) return [hex[0].length, `\\u{${hex[1] || hex[2]}}`];
    if (CONTROL[first]) return [1, CONTROL[first]];
    if ("dDwW".includes(first)) return [1, `\\${first}`];
    if (first === "s") return [1, inClass ? SPACES : `[${SPACES}]`];
    if (first === "S" && !inClass) return [1, `[^${SPACES}]`];
    if (!inClass && "bB".includes(first)) return [1, `\\${first}`];
    if (!inClass && first === "A") return [1, "^"];
    if (!inClass && first === "z") return [1, "$"];
    if (/[^a-zA-Z0-9]/.test(first) && first <= "~") return [1, literal(first)];
    return refuse(`\\${first}`);
  };

  // "[a-z]" at the beginning of the text: [its length, the browser's text].
  const classOf = (text) => {
    let at = text[1] === "^" ? 2 : 1;
    let out = text.slice(0, at);
    const begin = at;
    while (text[at] !== "]" || at === begin) {
      if (at >= text.length) throw new Error("a [ is not closed");
      if (text[at] === "]") refuse("a ] at the beginning of a class"); // for one of them it is its end
      if (text.startsWith("[:", at)) refuse("[:name:]");
      if (text[at] === "\\") {
        const [length, escaped] = escapeOf(text.slice(at + 1), true);
        out += escaped;
        at += 1 + length;
      } else {
        const character = String.fromCodePoint(text.codePointAt(at));
        out += character === "-" ? "-" : literal(character);
        at += character.length;
      }
    }
    return [at + 1, `${out}]`];
  };

  // Throws an Error with a phrase for people.
  muster.patternOf = (expression) => {
    const insensitive = expression.startsWith("(?i)");
    let rest = insensitive ? expression.slice(4) : expression;
    let out = "";
    while (rest) {
      const repeat = /^\{(\d+)(?:,(\d*))?\}/.exec(rest);
      let length = 1;
      let piece = rest[0];
      if (rest[0] === "\\") {
        [length, piece] = escapeOf(rest.slice(1), false);
        length++;
      } else if (rest[0] === "[") {
        [length, piece] = classOf(rest);
      } else if (rest.startsWith("(?") && !rest.startsWith("(?:")) {
        refuse(`${rest.slice(0, 3)}…)`);
      } else if (repeat) {
        if (Math.max(Number(repeat[1]), Number(repeat[2] || 0)) > MOST_REPEATED) refuse(repeat[0]);
        [length, piece] = [repeat[0].length, repeat[0]];
      } else if (rest[0] === ".") {
        piece = "[^\\n]";
      } else if (!"()*+?|^$".includes(rest[0])) {
        piece = String.fromCodePoint(rest.codePointAt(0));
        length = piece.length;
        piece = literal(piece);
      }
      out += piece;
      rest = rest.slice(length);
    }
    try {
      return new RegExp(out, insensitive ? "iu" : "u");
    } catch {
      throw new Error(`${expression} is not a valid regular expression`);
    }
  };
})();
