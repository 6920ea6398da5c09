// What a reader has chosen, kept in the address of the page: a link has it, and a reload keeps it.
"use strict";

(() => {
  const DELAY = 250; // ms; browsers refuse to change the address too often
  const chosen = () => new URLSearchParams(location.hash.slice(1));
  const news = new Map();
  let later = 0;

  const write = () => {
    const all = chosen();
    for (const [name, value] of news) {
      if (value) all.set(name, value);
      else all.delete(name);
    }
    news.clear();
    const hash = String(all);
    try {
      history.replaceState(history.state, "", location.href.split("#")[0] + (hash ? `#${hash}` : ""));
    } catch {
      // a page within another one has no address of its own
    }
  };

  muster.address = {
    // Empty if nothing was chosen.
    get: (name) => (news.has(name) ? news.get(name) : chosen().get(name)) || "",
    set(name, value) {
      news.set(name, value);
      clearTimeout(later);
      later = setTimeout(write, DELAY);
    },
  };
})();
