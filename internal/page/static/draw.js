"use strict";
// Draws curves and histograms by uPlot, and graphs by d3-force as SVG. Labels are set as text.
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  const axis = (more) => Object.assign({ stroke: css("--soft"), font: "12px system-ui, sans-serif",
    grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 } }, more);

  // plot puts a chart into a box and keeps it as wide as the box.
  function plot(box, opt, data) {
    if (box.firstChild) return;
    const size = () => ({ width: Math.max(200, box.clientWidth), height: 220 });
    const u = new uPlot(Object.assign(size(), { legend: { show: false }, cursor: { drag: { x: false, y: false } } }, opt), data, box);
    new ResizeObserver(() => box.isConnected && box.clientWidth !== u.width && u.setSize(size())).observe(box);
  }

  // dates are the labels of a time axis in the user's own form: hours of a short time, else days.
  const dates = (u, at) => at.map((s) => u.scales.x.max - u.scales.x.min < 2 * 86400
    ? new Date(s * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : new Date(s * 1000).toLocaleDateString([], { day: "numeric", month: "short" }));

  // halo writes a text that lines behind it do not cross.
  function halo(g, text, x, y) {
    g.save();
    g.setLineDash([]);
    g.lineWidth = 5 * devicePixelRatio;
    g.lineJoin = "round";
    g.strokeStyle = css("--ground");
    g.strokeText(text, x, y);
    g.fillText(text, x, y);
    g.restore();
  }

  // passNow gives a curve a point at now, with the score that the memory has.
  function passNow(c, score) {
    const i = c.x.findIndex((x) => x >= c.now), at = i < 0 ? c.x.length : i, there = c.x[at] === c.now ? 1 : 0;
    c.x.splice(at, there, c.now);
    c.y.splice(at, there, score);
  }

  // height is how high a curve is at a time, between two points on the line that joins them.
  function height(c, x) {
    const i = c.x.findIndex((to) => to >= x);
    if (i <= 0) return c.y.at(i);
    return c.y[i - 1] + (c.y[i] - c.y[i - 1]) * (x - c.x[i - 1]) / (c.x[i] - c.x[i - 1]);
  }

  function curve(box) {
    const c = JSON.parse(box.dataset.curve);
    passNow(c, Number(box.dataset.score));
    const past = c.y.map((y, i) => c.x[i] <= c.now ? y : null), ahead = c.y.map((y, i) => c.x[i] >= c.now ? y : null);
    const marks = (u) => {
      const g = u.ctx, px = devicePixelRatio;
      const left = u.bbox.left, right = left + u.bbox.width, top = u.bbox.top, bottom = top + u.bbox.height;
      g.save();
      g.font = 11 * px + "px system-ui, sans-serif";
      g.textBaseline = "bottom";
      g.fillStyle = css("--soft");
      g.strokeStyle = css("--soft");
      g.lineWidth = px;
      g.setLineDash([4 * px, 4 * px]);
      let last = -99;
      for (const l of c.lines) {
        const y = u.valToPos(l.y, "y", true);
        if (y < top || y > bottom) continue;
        g.beginPath(); g.moveTo(left, y); g.lineTo(right, y); g.stroke();
        if (Math.abs(y - last) > 16 * px) { g.textAlign = "right"; halo(g, l.text, right - 4 * px, y - 2 * px); last = y; }
      }
      const now = u.valToPos(c.now, "x", true);
      g.setLineDash([]);
      g.beginPath(); g.moveTo(now, top); g.lineTo(now, bottom); g.stroke();
      g.textAlign = "left";
      halo(g, "now", now + 9 * px, top + 12 * px);
      g.fillStyle = css("--accent");
      const dot = (x, r) => {
        g.beginPath(); g.arc(u.valToPos(x, "x", true), u.valToPos(height(c, x), "y", true), r * px, 0, 7); g.fill();
      };
      for (const e of c.events) dot(e.x, 3.5);
      dot(c.now, 5);
      g.restore();
    };
    plot(box, {
      scales: { y: { range: (_u, _min, max) => [0, Math.max(1, max * 1.05)] } },
      axes: [axis({ values: dates }), axis({ size: 44 })],
      series: [{}, { label: "so far", stroke: css("--accent"), width: 2 },
        { label: "ahead", stroke: css("--accent"), width: 2, dash: [5, 5] }],
      hooks: { draw: [marks] },
    }, [c.x, past, ahead]);
  }

  function bars(box) {
    const bands = JSON.parse(box.dataset.bars) || [];
    const longest = Math.max(0, ...bands.map((b) => b.name.length)) * 6.5;
    const slanted = bands.length * (longest + 14) > box.clientWidth - 60;
    plot(box, {
      scales: { x: { time: false, range: [-0.6, bands.length - 0.4] }, y: { range: (_u, _min, max) => [0, Math.max(1, max * 1.1)] } },
      axes: [axis({ splits: bands.map((_b, i) => i), values: () => bands.map((b) => b.name), grid: { show: false },
        size: slanted ? 22 + longest * 0.72 : 34, rotate: slanted ? 40 : 0, gap: 4 }),
        axis({ size: 64, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6] })],
      series: [{}, { label: "memories", fill: css("--accent"), stroke: css("--accent"), width: 0, points: { show: false },
        paths: uPlot.paths.bars({ size: [0.7, 60] }) }],
    }, [bands.map((_b, i) => i), bands.map((b) => b.count)]);
  }

  const make = (name, attrs, parent) => {
    const el = document.createElementNS(NS, name);
    for (const [k, v] of Object.entries(attrs)) el.setAttribute(k, v);
    if (parent) parent.append(el);
    return el;
  };
  const shapes = {
    memory: (g) => make("circle", { r: 7, class: "k-memory" }, g),
    note: (g) => make("rect", { x: -6, y: -6, width: 12, height: 12, rx: 2, class: "k-note" }, g),
    entity: (g) => make("path", { d: "M0-8l8 8-8 8-8-8z", class: "k-entity" }, g),
  };

  function graph(box) {
    if (box.firstChild) return;
    const { nodes, links, about } = JSON.parse(box.dataset.graph);
    const w = Math.max(300, box.clientWidth), h = Math.max(360, Math.min(640, innerHeight - 260));
    const svg = make("svg", { viewBox: [0, 0, w, h].join(" "), width: w, height: h, role: "group",
      "aria-label": "Graph; the same is in the list below" }, box);
    const lines = links.map((l) => {
      const el = make("line", { class: "edge" }, svg);
      make("title", {}, el).textContent = l.type;
      return el;
    });
    const most = w < 500 ? 16 : 26;
    const degree = nodes.map(() => 0);
    for (const l of links) { degree[l.source]++; degree[l.target]++; }
    const order = [...degree.keys()].sort((a, b) => (nodes[b].label === about) - (nodes[a].label === about) || degree[b] - degree[a]);
    const marks = nodes.map((n) => {
      const a = make("a", { href: n.href, class: "node" + (n.label === about ? " centre" : "") }, svg);
      shapes[n.kind] ? shapes[n.kind](a) : shapes.memory(a);
      make("title", {}, a).textContent = n.kind + ": " + n.label;
      const words = n.label.length > most ? n.label.slice(0, most - 1) + "…" : n.label;
      make("text", { x: 11, y: 4 }, a).textContent = words;
      drag(a, n);
      return a;
    });
    // Few nodes spread out, many fit: a node has a square of the box.
    const apart = Math.min(Math.max(0.62 * Math.sqrt(w * h / nodes.length), 34), 150);
    const sim = d3.forceSimulation(nodes)
      .force("link", d3.forceLink(links).distance(apart))
      .force("charge", d3.forceManyBody().strength(-6 * apart))
      .force("x", d3.forceX(w / 2).strength(0.1)).force("y", d3.forceY(h / 2).strength(0.1 * Math.max(1, w / h)))
      .force("apart", d3.forceCollide(Math.min(apart / 2, 26))).stop();
    const place = () => {
      for (const n of nodes) { n.x = Math.min(Math.max(n.x, 14), w - 40); n.y = Math.min(Math.max(n.y, 14), h - 14); }
      links.forEach((l, i) => { const el = lines[i];
        el.setAttribute("x1", l.source.x); el.setAttribute("y1", l.source.y);
        el.setAttribute("x2", l.target.x); el.setAttribute("y2", l.target.y); });
      nodes.forEach((n, i) => {
        marks[i].setAttribute("transform", "translate(" + n.x.toFixed(1) + "," + n.y.toFixed(1) + ")");
      });
    };
    const pen = document.createElement("canvas").getContext("2d"), family = getComputedStyle(document.body).fontFamily;
    const wides = marks.map((a) => {
      pen.font = (a.classList.contains("centre") ? "650" : "400") + " 12px " + family;
      return Math.ceil(pen.measureText(a.lastChild.textContent).width);
    });
    // name shows the labels for which there is room, those of the best linked nodes first.
    const name = () => {
      const taken = nodes.map((n) => [n.x - 8, n.y - 8, n.x + 8, n.y + 8]);
      for (const i of order) {
        const n = nodes[i], wide = wides[i];
        const box = (from) => [from, n.y - 7, from + wide + 2, n.y + 7];
        const fits = (t) => t[0] > 0 && t[2] < w && taken.every((o) => t[2] < o[0] || t[0] > o[2] || t[3] < o[1] || t[1] > o[3]);
        const right = box(n.x + 10), left = box(n.x - 12 - wide), at = [right, left].find(fits);
        marks[i].classList.toggle("left", at ? at === left : right[2] > w);
        marks[i].classList.toggle("named", Boolean(at));
        if (at) taken.push(at);
      }
    };
    sim.tick(200);
    place();
    name();
    sim.on("tick", place).on("end", name);

    function drag(a, n) {
      let from;
      a.addEventListener("pointerdown", (ev) => { from = [ev.clientX, ev.clientY]; a.setPointerCapture(ev.pointerId); });
      a.addEventListener("pointermove", (ev) => {
        if (!from || Math.hypot(ev.clientX - from[0], ev.clientY - from[1]) < 5 && !a.moved) return;
        a.moved = true;
        const at = svg.getBoundingClientRect(), k = w / at.width;
        n.fx = (ev.clientX - at.left) * k; n.fy = (ev.clientY - at.top) * k;
        if (still.matches) { n.x = n.fx; n.y = n.fy; place(); } else sim.alphaTarget(0.2).restart();
      });
      const end = () => { from = null; n.fx = n.fy = null; sim.alphaTarget(0); };
      a.addEventListener("pointerup", end);
      a.addEventListener("pointercancel", end);
      a.addEventListener("click", (ev) => { if (a.moved) { ev.preventDefault(); ev.stopPropagation(); } a.moved = false; }, true);
      a.addEventListener("dragstart", (ev) => ev.preventDefault());
    }
  }

  window.emberdDraw = (from) => {
    for (const [what, draw] of [["curve", curve], ["bars", bars], ["graph", graph]])
      for (const box of from.querySelectorAll("[data-" + what + "]")) draw(box);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const box of document.querySelectorAll(".chart")) box.replaceChildren();
    window.emberdDraw(document);
  });
})();
