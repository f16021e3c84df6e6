"use strict";
// Everything below is already on the page. This script shows a part of it at a time, and keeps what is shown in the URL:
// "#/text=math&outcome=raises,differs&from=2.4.1&cell=file::case@torch2.11.0-cp311-linux_x86_64".
(() => {
  const byId = (id) => document.getElementById(id);
  const SILENT = new Set(["not-run", "unsupported", "moot"]);
  const grid = byId("grid"), form = byId("filters"), panel = byId("panel");
  const heads = [...grid.tHead.rows[0].cells].slice(1);
  const releases = [...new Set(heads.map((head) => head.dataset.torch))];
  const groups = [...grid.tBodies].map((body) => ({ body, rows: [] }));
  const lines = groups.flatMap((group) => [...group.body.rows].slice(1).map((row) => readLine(row, group)));
  const lineOf = new Map(lines.map((line) => [line.id, line]));
  const texts = new Map();
  let state = {}, focus = null, shownAs = "";

  function readLine(row, group) {
    const cells = [...row.cells].slice(1);
    const line = { row, group, id: row.dataset.case, cells, family: group.body.dataset.family, text: null };
    line.faces = cells.map((cell) => cell.classList[0]);
    line.words = cells.map((cell) => cell.textContent.trim());
    line.bad = cells.map((cell) => cell.classList.contains("bad"));
    group.rows.push(line);
    return line;
  }

  // The URL

  function parse(hash) {
    const found = {};
    for (const [name, value] of new URLSearchParams(hash.slice(2))) found[name] = value;
    return found;
  }

  function written(wanted) {
    const parts = Object.entries(wanted).filter(([, value]) => value);
    const plain = (value) => encodeURIComponent(value).replace(/%(3A|2C|40)/g, (code) => decodeURIComponent(code));
    return "#/" + parts.map(([name, value]) => `${name}=${plain(value)}`).join("&");
  }

  function go(change, replace = false) {
    const hash = written({ ...state, ...change });
    if (replace) history.replaceState(null, "", hash);
    else if (hash !== location.hash) history.pushState(null, "", hash);
    follow();
  }

  function follow() {
    const hash = location.hash;
    if (!hash.startsWith("#/") && hash.length > 1) return followAnchor(hash.slice(1));
    state = parse(hash);
    const release = state.release && byId(`changed-${state.release}`);
    if (release) {
      closePanel();
      return showView(release);
    }
    showView(byId("matrix"));
    fill();
    filter();
    if (state.release) return missing(`There is nothing to tell of a release ${state.release} in this matrix.`);
    if (state.cell) return openCell(state.cell);
    if (state.case) return openCase(state.case);
    closePanel();
  }

  function followAnchor(id) {
    const target = byId(id);
    const link = grid.querySelector(`tbody a[href="#${CSS.escape(id)}"]`);
    const view = target && target.closest(".view");
    if (link && !target.classList.contains("environment")) return go(opened(link), true);
    if (!view || view.id === "matrix") return go({ release: "", cell: "", case: "" }, true);
    closePanel();
    showView(view);
    if (target === view) scrollTo(0, 0);
    else target.scrollIntoView();
  }

  function showView(view) {
    for (const one of document.querySelectorAll(".view")) one.hidden = one !== view;
    const name = view.classList.contains("release") ? "changes" : view.id;
    for (const link of document.querySelectorAll("nav a")) {
      if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }

  // Filters

  function fill() {
    for (const field of form.elements) {
      const value = state[field.name] || "";
      if (field.name === "outcome" || field.name === "verdict") field.checked = value.split(",").includes(field.value);
      else if (field.type === "checkbox") field.checked = value === "1";
      else if (field.name === "from") field.value = releases.includes(value) ? value : releases[0];
      else if (field.name === "to") field.value = releases.includes(value) ? value : releases[releases.length - 1];
      else if (field.name && field.value !== value) field.value = value;
    }
  }

  function read() {
    const all = (name) => [...form.querySelectorAll(`[name=${name}]:checked`)].map((field) => field.value).join(",");
    const { text, family, platform, from, to, differ, unexpected } = form.elements;
    return {
      text: text.value.trim(), family: family.value, platform: platform ? platform.value : "", outcome: all("outcome"), verdict: all("verdict"),
      from: from.value === releases[0] ? "" : from.value,
      to: to.value === releases[releases.length - 1] ? "" : to.value,
      differ: differ.checked ? "1" : "", unexpected: unexpected.checked ? "1" : "",
    };
  }

  function textOf(line) {
    if (line.text === null) {
      const article = byId(line.row.cells[0].firstElementChild.hash.slice(1));
      const parts = new Set([...article.querySelectorAll(".refs a")].map((link) => link.hash));
      line.text = [line.id, line.family, article.textContent, ...[...parts].map(textOfPart)].join("\n").toLowerCase();
    }
    return line.text;
  }

  // To read them all takes longer than a filter may: it is done while nothing else is.
  function readAhead(from = 0) {
    for (const line of lines.slice(from, from + 20)) textOf(line);
    if (from < lines.length) (window.requestIdleCallback || setTimeout)(() => readAhead(from + 20));
  }

  function textOfPart(hash) {
    if (!texts.has(hash)) texts.set(hash, byId(hash.slice(1)).textContent);
    return texts.get(hash);
  }

  function filter() {
    const first = Math.max(0, releases.indexOf(state.from || releases[0]));
    const found = releases.indexOf(state.to || releases[releases.length - 1]);
    const last = found < 0 ? releases.length - 1 : found;
    const known = heads.some((head) => head.dataset.platform === state.platform);
    const inside = heads.map((head) => {
      const place = releases.indexOf(head.dataset.torch);
      return place >= first && place <= last && (!known || head.dataset.platform === state.platform);
    });
    showColumns(inside);
    const wanted = matcher(inside.flatMap((is, place) => (is ? [place] : [])));
    let count = 0;
    for (const group of groups) {
      let some = false;
      for (const line of group.rows) {
        const shown = wanted(line);
        if (line.row.hidden === shown) line.row.hidden = !shown;
        some ||= shown;
        count += shown;
      }
      if (group.body.hidden === some) group.body.hidden = !some;
    }
    byId("nothing").hidden = count > 0;
    byId("shown").textContent = `${count} of ${lines.length} cases, ${inside.filter(Boolean).length} of ${heads.length} environments`;
    placeFocus();
  }

  function matcher(places) {
    const words = (state.text || "").toLowerCase().split(/\s+/).filter(Boolean);
    const outcomes = (state.outcome || "").split(",").filter(Boolean);
    const verdicts = (state.verdict || "").split(",").filter(Boolean);
    return (line) =>
      (!state.family || line.family === state.family) &&
      (!outcomes.length || places.some((place) => outcomes.includes(line.faces[place]))) &&
      (!verdicts.length || places.some((place) => verdicts.some((one) => line.words[place].includes(`${one}!`)))) &&
      (!state.unexpected || places.some((place) => line.bad[place])) &&
      (!state.differ || differs(line, places)) &&
      words.every((word) => textOf(line).includes(word));
  }

  // A number that is another on each release is no difference, and neither is a release that says nothing.
  function differs(line, places) {
    const told = places.filter((place) => !SILENT.has(line.faces[place]));
    const ending = (place) => `${line.faces[place]} ${line.faces[place] === "drift" ? "" : line.words[place]}`;
    return told.some((place) => ending(place) !== ending(told[0]));
  }

  function showColumns(inside) {
    const key = inside.map(Number).join("");
    if (key === shownAs) return;
    shownAs = key;
    const runs = [];
    inside.forEach((is, place) => {
      const last = runs[runs.length - 1];
      if (!is && last && last[1] === place + 1) last[1] += 1;
      else if (!is) runs.push([place + 2, place + 2]);
    });
    const hidden = runs.map(([from, to]) => `#grid tr > :nth-child(n + ${from}):nth-child(-n + ${to})`);
    byId("columns").textContent = hidden.length ? `${hidden.join(",")} { display: none; }` : "";
  }

  // The panel

  function openPanel(title, ...nodes) {
    byId("panel-title").textContent = title;
    byId("panel-body").replaceChildren(...nodes);
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
  }

  function closePanel() {
    if (panel.open) panel.close();
  }

  function openCase(id) {
    const line = lineOf.get(id);
    if (!line) return missing(`There is no case ${id} in this matrix.`);
    const copy = byId(line.row.cells[0].firstElementChild.hash.slice(1)).cloneNode(true);
    const title = copy.querySelector("h3");
    title.remove();
    copy.querySelector(".hint").remove();
    for (const link of copy.querySelectorAll('dd a[href^="#p"]')) link.replaceWith(textOfPart(link.hash).trim().split("\n").pop());
    setFocus(line.row.cells[0].firstElementChild);
    for (const detail of copy.querySelectorAll(".detail")) detail.replaceWith(folded(expanded(detail)));
    openPanel(title.textContent, unnamed(copy));
  }

  function folded(detail) {
    const [heading, where, ...rest] = detail.children;
    const summary = made("summary", "");
    summary.append(heading.firstElementChild, where.textContent);
    summary.className = heading.className;
    const box = made("details", "");
    box.append(summary, ...rest);
    return box;
  }

  function openCell(name) {
    const [id, environment] = split(name);
    const line = lineOf.get(id);
    const place = heads.findIndex((head) => head.dataset.id === environment);
    if (!line || place < 0) return missing(`There is no cell ${name} in this matrix.`);
    setFocus(line.cells[place].firstElementChild);
    const { torch } = heads[place].dataset;
    const anchor = heads[place].firstElementChild.hash.slice(1);
    const target = byId(line.cells[place].firstElementChild.hash.slice(1));
    const installed = byId(anchor).cloneNode(true);
    Object.assign(installed.querySelector("h3"), { textContent: "What was installed", className: "sub" });
    const about = made("p", `torch ${torch}, ${environment}. `);
    about.append(Object.assign(made("a", "History of the case"), { href: written({ ...state, cell: "", case: id }) }));
    const detail = target.classList.contains("detail") ? unnamed(expanded(target.cloneNode(true), anchor)) : made("h4", line.words[place]);
    const again = [made("h4", "run it again"), command(id, torch)];
    openPanel(id, about, detail, ...again, unnamed(installed));
  }

  function split(name) {
    const at = name.lastIndexOf("@");
    return [name.slice(0, at), name.slice(at + 1)];
  }

  function missing(sentence) {
    closePanel();
    byId("shown").textContent = sentence;
  }

  // A detail with its parts in it; with the frames of one environment alone, if one is given.
  function expanded(detail, environment) {
    const refs = detail.querySelector(".refs");
    const links = [...refs.querySelectorAll("a")].filter((link) => !environment || !link.dataset.on || link.dataset.on.split(" ").includes(environment));
    refs.replaceWith(...links.map((link) => {
      const part = byId(link.hash.slice(1)).cloneNode(true);
      if (link.dataset.on && !environment) part.querySelector("h4").textContent = link.textContent;
      return part;
    }));
    return detail;
  }

  function command(id, torch) {
    const line = made("pre", "");
    const button = made("button", "Copy");
    button.value = "copy";
    button.type = "button";
    line.className = "command";
    line.append(made("span", `recompat reproduce ${id} --torch ${torch}`), button);
    return line;
  }

  function made(tag, text) {
    return Object.assign(document.createElement(tag), { textContent: text });
  }

  function unnamed(copy) {
    for (const one of [copy, ...copy.querySelectorAll("[id]")]) one.removeAttribute("id");
    return copy;
  }

  async function copyCommand(button) {
    const text = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  }

  // The keyboard: one stop for the whole table, and arrows in it

  function placeFocus() {
    if (focus && !focus.closest("[hidden]")) return;
    const line = lines.find((one) => !one.row.hidden);
    setFocus(line && line.row.cells[0].firstElementChild);
  }

  function setFocus(link, really = false) {
    if (focus) focus.tabIndex = -1;
    focus = link;
    if (!link) return;
    link.tabIndex = 0;
    if (really) link.focus();
  }

  function move(event) {
    const link = event.target.closest("#grid a");
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -1e6], End: [0, 1e6], PageUp: [-10, 0], PageDown: [10, 0] };
    const step = link && steps[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const rows = [grid.tHead.rows[0], ...lines.filter((line) => !line.row.hidden).map((line) => line.row)];
    const columns = [0, ...heads.flatMap((head, place) => (head.offsetWidth ? [place + 1] : []))];
    const within = (at, list) => list[Math.min(list.length - 1, Math.max(0, at))];
    const row = within(rows.indexOf(link.closest("tr")) + step[0], rows);
    const column = within(columns.indexOf(link.parentElement.cellIndex) + step[1], columns);
    setFocus(row.cells[row === rows[0] ? Math.max(1, column) : column].firstElementChild, true);
    focus.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function clicked(event) {
    const link = event.target.closest("a");
    if (event.target.value === "copy") copyCommand(event.target);
    if (event.target.value === "close" || event.target === panel) go({ cell: "", case: "" });
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const cell = link.closest("#grid tbody td, #grid tbody tr:not(.group) th");
    if (!cell) return;
    event.preventDefault();
    go(opened(link));
  }

  // What the URL says once a link of the grid was followed.
  function opened(link) {
    const cell = link.parentElement, id = cell.parentElement.dataset.case;
    if (cell.tagName === "TH") return { case: id, cell: "", release: "" };
    return { cell: `${id}@${heads[cell.cellIndex - 1].dataset.id}`, case: "", release: "" };
  }

  function named(event) {
    const link = event.target.closest("#grid td a");
    if (link && !link.title) link.title = `${link.textContent} on ${heads[link.parentElement.cellIndex - 1].dataset.torch}`;
  }

  document.documentElement.classList.add("js");
  document.head.append(Object.assign(document.createElement("style"), { id: "columns" }));
  grid.setAttribute("role", "grid");
  grid.parentElement.removeAttribute("tabindex");
  for (const link of grid.querySelectorAll("a")) link.tabIndex = -1;
  form.hidden = false;
  form.firstElementChild.open = innerWidth > 640;
  let typing = 0;
  form.addEventListener("input", (event) => {
    const now = Date.now();
    go(read(), event.target.name === "text" && now - typing < 1000);
    if (event.target.name === "text") typing = now;
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    go({ text: "", family: "", platform: "", outcome: "", verdict: "", from: "", to: "", differ: "", unexpected: "" });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  panel.addEventListener("cancel", (event) => {
    event.preventDefault();
    go({ cell: "", case: "" });
  });
  panel.addEventListener("close", () => {
    if (!panel.open && (state.cell || state.case)) go({ cell: "", case: "" });
    if (focus && !panel.open) focus.focus();
  });
  grid.addEventListener("keydown", move);
  grid.addEventListener("mouseover", named);
  document.addEventListener("click", clicked);
  addEventListener("popstate", follow);
  follow();
  readAhead();
})();
