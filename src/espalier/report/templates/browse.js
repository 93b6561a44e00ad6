"use strict";
// Search, order and page through the `items` of items.js. All text enters the page as text, never as HTML.
(() => {
  const PER_PAGE = 20;
  const DASH = "\u2014";
  const form = document.querySelector(".controls");
  const place = document.getElementById("items");
  const text = (number) => items.strings[number];

  const element = (name, content = "", className = "") => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (Array.isArray(content)) made.append(...content);
    else if (content !== "") made.append(content);
    return made;
  };

  // A tree as the nested list that the style draws; the same lists as in trees.py.
  const constituents = (penn) => {
    const top = element("ul", "", "tree");
    let list = top;
    for (const [, label, word] of penn.matchAll(/\(([^ ()]+)|([^ ()]+)|\)/g)) {
      if (label) {
        const below = element("ul");
        list.append(element("li", [element("span", label), below]));
        list = below;
      } else if (word) list.append(element("li", [element("span", word, "word")]));
      else {
        const above = list.parentElement.parentElement;
        if (!list.childElementCount) list.remove();
        list = above;
      }
    }
    return top;
  };

  const dependencies = (pairs) => {
    const words = pairs.split(" ").map((pair) => pair.split(/\/(?=\d+$)/));
    const nodes = words.map(([word]) => [element("ul"), element("span", word, "word"), element("ul")]);
    const top = element("ul", "", "tree heads");
    words.forEach(([, head], index) => {
      const [left, , right] = head === "0" ? [top, null, top] : nodes[head - 1];
      const item = element("li", nodes[index]);
      (head === "0" || index < head - 1 ? left : right).append(item);
    });
    for (const list of top.querySelectorAll("ul")) if (!list.childElementCount) list.remove();
    return top;
  };

  const figure = (caption, tree) => {
    const scroll = element("div", [tree], "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", caption);
    return element("figure", [element("figcaption", caption), scroll]);
  };

  // Equal trees are drawn once, with all their labels.
  const figures = (index) => {
    const labels = new Map();
    const name = (label, tree) => { if (tree) labels.set(tree, [...(labels.get(tree) ?? []), label]); };
    for (const [label, column] of Object.entries(items.trees)) name(label, column[index]);
    for (const run of shown()) {
      for (const [label, column] of Object.entries(run.trees)) name(`${run.title}: ${label}`, column[index]);
    }
    const drawn = [...labels].map(([tree, names]) => figure(names.join(", "), constituents(text(tree))));
    for (const run of shown()) {
      if (run.heads?.[index]) drawn.push(figure(run.title, dependencies(text(run.heads[index]))));
    }
    return drawn;
  };

  const written = (run, index) => {
    const texts = run.texts[index];
    if (!texts) return [DASH];
    const nothing = run.trees.output?.[index] ? "a tree" : DASH;
    const lines = texts.map((number) => element("span", text(number) || nothing, "text"));
    const parts = lines.length > 1 ? [element("ol", lines.map((line) => element("li", [line])))] : lines;
    const scores = items.scores
      .map(({ name, digits }, at) => [name, run.scores[at][index], digits])
      .filter(([, value]) => value !== null)
      .flatMap(([name, value, digits]) => [`${name} `, element("b", value.toFixed(digits).replace("-", "\u2212"))]);
    return scores.length ? [...parts, element("span", scores, "scores-of")] : parts;
  };

  const article = (index) => {
    const list = element("dl");
    for (const [label, column] of Object.entries(items.given)) {
      if (text(column[index])) list.append(element("dt", label), element("dd", [element("span", text(column[index]), "text")]));
    }
    for (const run of shown()) list.append(element("dt", run.title), element("dd", written(run, index)));
    const made = element("article", [element("h2", items.ids[index]), list], "item");
    const drawn = figures(index);
    if (drawn.length) made.append(element("details", [element("summary", "Trees"), element("div", drawn, "trees")]));
    return made;
  };

  const box = (run) => form.elements[`run ${run.key}`];
  const shown = () => items.runs.filter((run) => box(run).checked);

  // --- what is shown, which the address keeps
  let page = 0;
  const matches = () => {
    const query = form.elements.query.value.trim().toLowerCase();
    const columns = [...Object.values(items.given)];
    const found = items.ids.map((_, index) => index).filter((index) => {
      if (!query) return true;
      const texts = columns.map((column) => column[index]);
      for (const run of shown()) texts.push(...(run.texts[index] || []));
      return items.ids[index].toLowerCase().includes(query) || texts.some((number) => text(number).toLowerCase().includes(query));
    });
    const [run, score, way] = form.elements.order.value.split("|").map(Number);
    if (!form.elements.order.value) return found;
    const values = items.runs[run].scores[score];
    const known = found.filter((index) => values[index] !== null);
    const rest = found.filter((index) => values[index] === null);
    return [...known.sort((one, other) => way * (values[one] - values[other]) || one - other), ...rest];
  };

  const show = () => {
    const found = matches();
    page = Math.max(0, Math.min(page, Math.ceil(found.length / PER_PAGE) - 1));
    const from = page * PER_PAGE;
    const here = found.slice(from, from + PER_PAGE);
    place.replaceChildren(...here.map(article));
    const of = found.length.toLocaleString("en");
    document.querySelector(".pages [role=status]").textContent =
      here.length ? `Items ${(from + 1).toLocaleString("en")} to ${(from + here.length).toLocaleString("en")} of ${of}` : "No item contains this.";
    for (const button of document.querySelectorAll(".pages [name=back]")) button.disabled = page === 0;
    for (const button of document.querySelectorAll(".pages [name=on]")) button.disabled = from + PER_PAGE >= found.length;
    const state = new URLSearchParams();
    if (form.elements.query.value) state.set("query", form.elements.query.value);
    if (form.elements.order.value) state.set("order", form.elements.order.value);
    for (const run of items.runs) if (!box(run).checked) state.append("without", run.key);
    if (page) state.set("page", page + 1);
    history.replaceState(null, "", `#${state}`);
  };

  const restore = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    form.elements.query.value = state.get("query") ?? "";
    form.elements.order.value = state.get("order") ?? "";
    for (const run of items.runs) box(run).checked = !state.getAll("without").includes(run.key);
    page = Math.max(0, (Number(state.get("page")) || 1) - 1);
    show();
  };

  for (const [at, run] of items.runs.entries()) {
    const input = element("input");
    Object.assign(input, { type: "checkbox", name: `run ${run.key}`, checked: true });
    form.querySelector("fieldset").append(element("label", [input, run.title]));
    const group = element("optgroup");
    group.label = run.title;
    for (const [score, { name, better }] of items.scores.entries()) {
      if (!run.scores[score].some((value) => value !== null)) continue;
      for (const best of [true, false]) {
        const option = element("option", `${name}, ${best ? "best" : "worst"} first`);
        option.value = [at, score, (better === "higher") === best ? -1 : 1].join("|");
        group.append(option);
      }
    }
    if (group.childElementCount) form.elements.order.append(group);
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { page = 0; show(); });
  for (const [name, step] of [["back", -1], ["on", 1]]) {
    for (const button of document.querySelectorAll(`.pages [name=${name}]`)) {
      button.addEventListener("click", () => {
        page += step;
        show();
        form.scrollIntoView({ block: "start" });
      });
    }
  }
  window.addEventListener("hashchange", restore);
  for (const hidden of document.querySelectorAll("main [hidden]")) hidden.hidden = false;
  restore();
})();
