"use strict";
// Opens the session, tells htmx how to write, renews the view when something changed, and moves
// by keyboard. It puts text into the page as text, never as HTML; HTML comes from the daemon's
// templates alone and is parsed under the one policy that is allowed here.
(() => {
  const $ = (s, from) => (from || document).querySelector(s);
  const all = (s, from) => [...(from || document).querySelectorAll(s)];

  // The only addresses of scripts are those that the daemon's layout names.
  const drawing = () => $('meta[name="emberd-drawing"]').content.trim().split(" ");
  let policy = { createHTML: (html) => html, createScriptURL: (url) => url };

  // htmx parses what the server sends: the templates, in which all text is escaped.
  if (window.trustedTypes) {
    policy = trustedTypes.createPolicy("emberd", { createHTML: (html) => html,
      createScriptURL: (url) => drawing().includes(url) ? url : "" });
    const parse = DOMParser.prototype.parseFromString;
    DOMParser.prototype.parseFromString = function (html, type) {
      return parse.call(this, policy.createHTML(html), type);
    };
    if (Document.parseHTMLUnsafe) {
      const unsafe = Document.parseHTMLUnsafe;
      Document.parseHTMLUnsafe = (html, opt) => unsafe.call(Document, policy.createHTML(html), opt);
    }
  }

  // The code of the address is used once, and leaves the address before anything else happens.
  const code = location.hash.slice(1);
  const isCode = /^[A-Za-z0-9_-]{22}$/.test(code);
  if (isCode) history.replaceState(null, "", location.pathname);
  const headers = { "X-Emberd": "1", "Content-Type": "application/json" };
  async function open() {
    const res = await fetch("/session", { method: "POST", headers, body: JSON.stringify({ code }) });
    if (res.ok) return location.replace("/today");
    await parsed;
    const why = $("#opening");
    if (why) why.textContent = "The page cannot use this address: " + (await res.text()).trim() + ".";
  }

  // The code is sent while the rest of its page is still read.
  const parsed = new Promise((ok) => document.addEventListener("DOMContentLoaded", ok));
  if (isCode) void open(); else void parsed.then(() => window.htmx && start());

  function start() {
    htmx.defineExtension("emberd", {
      onEvent(name, ev) {
        if (name !== "htmx:configRequest" || ev.detail.verb === "get") return;
        Object.assign(ev.detail.headers, headers);
      },
      encodeParameters(_xhr, params) {
        return JSON.stringify(Object.fromEntries(params instanceof FormData ? params : Object.entries(params)));
      },
    });
    // What the user opened stays open when a view is renewed.
    Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, el) => name !== "open" || el.localName !== "details";
    // The list that is still compared stays until renew asks for it again.
    Idiomorph.defaults.callbacks.beforeNodeMorphed = (el) => el.id !== "pairs";
    document.body.addEventListener("emberd-changed", (ev) => {
      const edit = $("#editing");
      if (edit) edit.open = false;
      if (ev.target.matches("#main, [hx-post='/do/forget'], [hx-post='/do/undo']")) acted = location.pathname;
      renew();
    });
    document.body.addEventListener("htmx:beforeHistoryUpdate", () => {
      if (lists.includes(location.pathname)) list = location.pathname + location.search;
    });
    document.body.addEventListener("htmx:beforeSwap", (ev) => {
      hold();
      if (ev.detail.xhr.status !== 404 || acted !== location.pathname || ev.detail.requestConfig.path !== acted) return;
      ev.detail.shouldSwap = false;
      setTimeout(leave);
    });
    document.body.addEventListener("htmx:afterSettle", (ev) => {
      const main = $("#main");
      if (main && ev.detail.target === main || ev.target === main) shown();
      draw();
      refocus();
    });
    document.body.addEventListener("htmx:sendError", () => say("The page is no longer served. Run emberd page again."));
    draw();
    reveal();
    live();
    const help = $("#help");
    $("#help-button").addEventListener("click", () => help.showModal());
    document.addEventListener("click", clicked);
    document.addEventListener("keydown", pressed);
  }

  // draw draws what the view has to be drawn. The libraries for that are loaded when the first such view is shown.
  let loading;
  async function draw() {
    if (!$("[data-curve], [data-bars], [data-graph]")) return;
    loading ||= Promise.all(drawing().map((url) => new Promise((ok, bad) => {
      const style = url.includes(".css");
      const el = document.createElement(style ? "link" : "script");
      el.onload = ok;
      el.onerror = bad;
      if (style) { el.rel = "stylesheet"; el.href = url; } else { el.async = false; el.src = policy.createScriptURL(url); }
      document.head.append(el);
    })));
    try { await loading; } catch { loading = null; return; }
    window.emberdDraw(document);
  }

  // shown runs when another view came: its title, and where the keyboard is.
  let path = location.pathname;
  function shown() {
    if (location.pathname === path) return;
    path = location.pathname;
    const h1 = $("#main h1");
    if (h1) document.title = h1.textContent + " · emberd";
    const first = $("#main [autofocus]");
    (first || $("#main")).focus({ preventScroll: true });
    reveal();
  }

  // reveal scrolls the menu of a narrow window to the view that is shown.
  function reveal() {
    const nav = $("nav"), a = $("nav [aria-current]");
    if (a && nav.scrollWidth > nav.clientWidth) nav.scrollLeft = a.offsetLeft - (nav.clientWidth - a.offsetWidth) / 2;
  }

  function say(text) {
    const p = document.createElement("p");
    p.textContent = text;
    const box = document.createElement("div");
    box.className = "notice bad";
    box.append(p);
    $("#notice").replaceChildren(box);
  }

  // The item with the keyboard, by its place, since a decision takes it away.
  let held = -1;
  const items = () => all("[data-item]").filter((i) => i.offsetParent !== null);
  const current = () => document.activeElement && document.activeElement.closest("[data-item]");
  function hold() { held = items().indexOf(current()); }
  function refocus() {
    if (held < 0 || document.activeElement && document.activeElement !== document.body) return;
    const list = items();
    if (list.length) focusItem(list[Math.min(held, list.length - 1)]);
  }
  function focusItem(item) {
    item.tabIndex = -1;
    item.focus({ preventScroll: true });
    item.scrollIntoView({ block: "nearest" });
  }

  // renew asks for the view again and changes what differs, so that focus and place stay.
  let waits, last = 0;
  function renew(pause) {
    clearTimeout(waits);
    waits = setTimeout(async () => {
      last = Date.now();
      hold();
      const pairs = $("#pairs");
      await htmx.ajax("GET", location.pathname + location.search,
        { source: "#main", target: "#main", select: "#main", swap: "morph:outerHTML" });
      if (pairs && pairs.isConnected) htmx.trigger(pairs, "renew");
    }, pause || 50);
  }
  // leave goes from the memory that the user forgot to the list that was shown last. The keys stay free for the undo.
  const lists = ["/today", "/search", "/decisions", "/fading"];
  let list = "/today", acted = ""; // the path of the view in which the user forgot or undid something
  async function leave() {
    if (location.pathname !== acted) return;
    await htmx.ajax("GET", list, { source: "#main", target: "#main", select: "#main",
      swap: "outerHTML show:window:top", replace: list });
    $("#main").focus({ preventScroll: true });
  }

  // soon renews for what others changed, at most every two seconds.
  const soon = () => { if (!editing()) renew(Math.max(150, last + 2000 - Date.now())); };
  const editing = () => $("#editing[open]") || $("[data-still]") || $(":focus") && $(":focus").matches("input, textarea, select");

  // live renews the view when something changes anywhere, while the page is looked at.
  let source, missed = false; // whether changes may have been missed
  function live() {
    const state = (text, on) => { const l = $("#live"); l.textContent = text; l.classList.toggle("on", on); l.classList.toggle("off", !on); };
    const connect = () => {
      if (source || document.hidden) return;
      source = new EventSource("/events");
      source.addEventListener("live", () => { state("live", true); if (missed) soon(); missed = false; });
      source.onerror = () => { state("not live", false); missed = true; };
      source.onmessage = soon;
    };
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) { connect(); soon(); return; }
      if (source) source.close();
      source = null;
    });
    window.addEventListener("pagehide", () => source && source.close());
    connect();
  }

  function clicked(ev) {
    const el = ev.target.closest("[data-dismiss], [data-open]");
    if (!el) return;
    if ("dismiss" in el.dataset) return void $("#notice").replaceChildren();
    const d = document.getElementById(el.dataset.open);
    d.open = true;
    const field = $("textarea, input:not([type=hidden])", d);
    if (field) field.focus();
  }

  // Keys. A key in a field is text, and a key with Ctrl, Alt or Meta is the browser's.
  let went = false;
  function pressed(ev) {
    if (ev.ctrlKey || ev.altKey || ev.metaKey || $("dialog[open]")) return;
    const field = ev.target.closest("input, textarea, select");
    if (field) {
      if (ev.key === "Escape") { ev.preventDefault(); field.blur(); } // a search field would be emptied
      if (ev.key === "ArrowDown" && field.id === "q") { const list = items(); if (list[0]) { ev.preventDefault(); focusItem(list[0]); } }
      return;
    }
    const go = went && $('nav a[data-key="' + CSS.escape(ev.key) + '"]');
    went = false;
    if (go) { ev.preventDefault(); return go.click(); }
    const act = keys[ev.key];
    if (act && act(ev) !== false) ev.preventDefault();
  }
  const step = (by) => () => {
    const list = items(), at = list.indexOf(current());
    const next = list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)];
    if (next) focusItem(next);
  };
  const keys = {
    "?": () => $("#help").showModal(),
    "/": () => { const q = $("#q"); if (q) { q.focus(); q.select(); } else $('nav a[data-key="s"]').click(); },
    g: () => { went = true; },
    j: step(1),
    k: step(-1),
    Enter: (ev) => {
      const item = ev.target.closest("[data-item]"), link = item === ev.target && $("a[href]", item);
      if (!link) return false;
      link.click();
    },
    e: () => { const b = $('[data-open="editing"]'); if (!b) return false; b.click(); },
    u: () => {
      const b = $("#notice [data-undo]");
      if (b) return b.click();
      htmx.ajax("POST", "/do/undo", { source: "#main", target: "#notice", select: "unset", swap: "innerHTML" });
    },
    Escape: () => { $("#notice").replaceChildren(); return false; },
  };
  for (let n = 1; n <= 9; n++) keys[n] = () => {
    const cards = all("[data-item]").filter((c) => $("[data-choice]", c));
    const b = $('[data-choice="' + n + '"]', current() || (cards.length === 1 ? cards[0] : document.createElement("p")));
    if (!b) return false;
    hold();
    b.click();
  };
})();
