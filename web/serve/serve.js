// What all pages of `muster serve` share: elements, the stream of events of the page, requests that steer.
"use strict";

const serve = (globalThis.serve = {});

(() => {
  // /TOKEN/sweep/ID: everything of the page is below it.
  serve.base = location.pathname.replace(/\/+$/, "");
  // /TOKEN
  serve.root = "/" + location.pathname.split("/")[1];

  serve.el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name === "hidden" || name === "disabled") node[name] = Boolean(value);
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return node;
  };

  serve.number = (value) => {
    if (typeof value !== "number") return value === null || value === undefined ? "" : String(value);
    return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  };
  serve.duration = (seconds) => {
    if (typeof seconds !== "number") return "";
    if (seconds < 60) return `${seconds.toFixed(1)} s`;
    if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
    if (seconds < 86400) return `${(seconds / 3600).toFixed(1)} h`;
    return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds / 3600) % 24} h`;
  };
  serve.time = (utc) => (utc ? utc.replace("T", " ").replace(/(\.\d+)?Z?$/, "Z") : "");

  // --- events

  // One stream per page, closed while the page is hidden: browsers open at most six connections to a server.
  // `handlers`: by event, called with its JSON. `version`: what the page shows already.
  serve.follow = (version, handlers) => {
    let source = null;
    let seen = version;
    const tell = (text) => {
      const state = document.getElementById("connection");
      document.documentElement.dataset.stream = text;
      if (state) state.textContent = text === "live" ? "live" : text === "ended" ? "muster serve has ended" : text;
    };
    const open = () => {
      if (source) return;
      source = new EventSource(`${serve.base}/events?from=${seen}`);
      source.addEventListener("open", () => tell("live"));
      source.addEventListener("error", () => {
        if (!source) return;
        tell(source.readyState === EventSource.CLOSED ? "ended" : "connecting again");
      });
      for (const [event, handle] of Object.entries(handlers)) {
        source.addEventListener(event, (message) => {
          seen = Number(message.lastEventId) || seen;
          handle(JSON.parse(message.data));
        });
      }
      source.addEventListener("reload", () => location.reload());
    };
    const close = () => {
      if (source) source.close();
      source = null;
      tell("paused");
    };
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    if (!document.hidden) open();
    // Begins again after that version.
    return (version) => {
      close();
      seen = version;
      if (!document.hidden) open();
    };
  };

  // --- requests

  // Resolves to the answer; an Error has the server's sentence.
  serve.request = async (what, body = {}, at = serve.base) => {
    const response = await fetch(`${at}/${what}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    let answer = {};
    try {
      answer = JSON.parse(text);
    } catch {
      answer = { error: text.trim() };
    }
    if (!response.ok) throw new Error(answer.error || `status ${response.status}`);
    return answer;
  };

  const said = () => document.getElementById("said");
  // Carries out a request, and says what came of it.
  serve.act = async (what, body, done, at) => {
    try {
      const answer = await serve.request(what, body, at);
      if (said()) said().textContent = done(answer);
    } catch (error) {
      if (said()) said().textContent = `refused: ${error.message}`;
    }
  };

  // A button that wants to be pressed twice.
  serve.twice = (label, question, act, attributes = {}) => {
    let sure = false;
    const button = serve.el("button", { type: "button", ...attributes, onclick: () => {
      if (!sure) {
        sure = true;
        button.textContent = question;
        return;
      }
      sure = false;
      button.textContent = label;
      act();
    }, onblur: () => {
      sure = false;
      button.textContent = label;
    } }, label);
    return button;
  };

  const field = (id, label, type, attributes = {}) =>
    serve.el("label", { class: "field" }, label, serve.el("input", {
      id, type, size: "6", ...attributes,
      oninput: (event) => { event.target.dataset.edited = "true"; },
      onfocus: (event) => event.target.select(),
      onblur: () => serve.holds({}),
    }));
  const valueOf = (id) => document.getElementById(id).value;
  // What was typed, as it is: the server says what is wrong with it.
  const numberOf = (id) => (valueOf(id).trim() === "" ? null : Number.isFinite(Number(valueOf(id))) ? Number(valueOf(id)) : valueOf(id));
  const stored = (id) => { delete document.getElementById(id).dataset.edited; };
  const form = (id, submit, ...children) =>
    serve.el("form", { id, novalidate: true, onsubmit: (event) => {
      event.preventDefault();
      submit();
    } }, ...children);

  // The bar with which a page steers what it shows. `kind`: "run" or "sweep".
  serve.controls = (kind) => {
    const stop = serve.twice("Stop", "Stop: sure?", () => serve.act("stop", {}, () => "stopping"), { id: "stop" });
    const kill = serve.twice("Kill", "Kill: sure?", () => serve.act("stop", { now: true }, () => "killing"), { id: "kill" });
    const note = form("note-form", () => serve.act("note", { text: valueOf("note") }, () => {
      stored("note");
      serve.holds({ note: valueOf("note") });
      return "the note is stored";
    }), field("note", "note ", "text", { size: "40", maxlength: "16000" }), serve.el("button", { type: "submit" }, "Store"));
    const tag = form("tag-form", () => serve.act("tag", { tag: valueOf("tag") }, () => "the tag is stored"),
      field("tag", "tag ", "text", { size: "12" }), serve.el("button", { type: "submit" }, "Store"));
    const parts = [stop, kill];
    if (kind === "sweep") {
      const resume = serve.twice("Resume", "Resume: sure?", () => {
        said().textContent = "resuming";
        serve.act("resume", {}, (answer) => (answer.waits ? "resumed: it waits to begin" : "resumed"));
      }, { id: "resume" });
      parts.push(resume,
        form("slots-form", () => serve.act("steer", { slots: numberOf("slots") }, (answer) => {
          stored("slots");
          return `${answer.slots} trials at a time`;
        }), field("slots", "slots ", "number", { min: "1" }), serve.el("button", { type: "submit" }, "Set")),
        form("add-form", () => serve.act("steer", { add_trials: numberOf("add") }, (answer) => `${answer.trials} trials in all`),
          field("add", "further trials ", "number", { min: "1" }), serve.el("button", { type: "submit" }, "Add")));
    } else {
      parts.push(
        serve.el("button", { type: "button", id: "dump", onclick: () => serve.act("dump", {}, (answer) => `dump ${answer.dump} is taken: muster dump`) }, "Dump stacks"));
    }
    return serve.el("section", { class: "controls", "aria-label": "steering" }, ...parts, tag, note,
      serve.el("p", { id: "why-not", class: "soft", hidden: true }), serve.el("p", { id: "said", role: "status" }));
  };

  // Shows in the fields what holds, except where something was typed, or is about to be.
  const held = {};
  serve.holds = (facts) => {
    Object.assign(held, facts);
    for (const id of ["slots", "note"]) {
      const input = document.getElementById(id);
      if (!input || !(id in held) || input.dataset.edited || document.activeElement === input) continue;
      input.value = held[id] === null || held[id] === undefined ? "" : String(held[id]);
    }
  };

  // Of what has ended nothing can be steered, and only a sweep that was not completed can be resumed. `state`: "running",
  // or how it ended.
  serve.enable = (kind, state) => {
    const live = state === "running" || state === "preparing";
    const why = live ? "" : kind !== "sweep" ? "the run has ended"
      : state === "complete" ? "the sweep is complete; muster resume --add-trials continues it with more trials"
        : "the sweep is not running; Resume continues it";
    const set = (css, off, reason) => {
      for (const button of document.querySelectorAll(css)) {
        button.disabled = off;
        button.style.opacity = off ? "0.5" : "";
        if (off) button.title = reason;
        else button.removeAttribute("title");
      }
    };
    set("#stop, #kill, #dump, #stop-trial, #slots, #slots-form button, #add, #add-form button", !live, why);
    set("#resume", live || state === "complete", live ? "the sweep is running" : why);
    const line = document.getElementById("why-not");
    if (!line) return;
    line.hidden = live;
    line.textContent = why;
  };
})();
