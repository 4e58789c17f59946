// The page: the view that the address names. The driver sends what has changed.
import { element, empty, fetched, problem } from "./dom.js";
import { queriesView } from "./queries.js";
import { queryView } from "./query.js";
import { jobsView } from "./jobs.js";
import { topicsView, topicView } from "./topics.js";
import { healthView } from "./health.js";
import { texts } from "./texts.js";

const view = document.getElementById("view");
const connection = document.getElementById("connection");
const FOCUSABLE = "a, button, summary, input, [tabindex]";
let queries = [];
let known = null;
let painting = false;
let outdated = false;
let pressed = false;
let shown = new AbortController();

// Each view by the form of its address; live ones are drawn again when something has changed
const routes = [
  { form: /^#\/query\/([^?]+)$/, tab: "queries", live: true, draw: ([id]) => queryView(id) },
  { form: /^#\/jobs$/, tab: "jobs", live: true, draw: () => jobsView() },
  { form: /^#\/topics$/, tab: "topics", live: false, draw: async () => topicsView(await facts()) },
  { form: /^#\/topic\/([^?]+)(?:\?(.*))?$/, tab: "topics", live: false, draw: ([name, query]) => topicAt(decodeURIComponent(name), query ?? "", shown.signal) },
  { form: /^#\/health$/, tab: "health", live: false, draw: () => healthView() },
  { form: /^/, tab: "queries", live: true, draw: async () => queriesView(queries, await facts()) },
];

function route() {
  return routes.find(({ form }) => form.test(location.hash));
}

// Where Kafka is may be known only after the first query has started
async function facts() {
  if (known) return known;
  const loaded = await fetched("api/page");
  if (loaded.servers) known = loaded;
  return loaded;
}

async function topicAt(name, query, signal) {
  return topicView(name, query, await facts(), signal);
}

async function paint(isNew) {
  const current = route();
  if ((painting || document.hidden) && !isNew) {
    outdated = true;
    return;
  }
  painting = true;
  outdated = false;
  const address = location.hash;
  try {
    if (isNew) document.title = `${texts.views[current.tab]} – millrace`;
    const [, ...matched] = location.hash.match(current.form);
    const children = await current.draw(matched);
    // What is being clicked stays until the click has come
    if (pressed && !isNew) outdated = true;
    else if (address === location.hash) show(children);
  } catch (error) {
    if (address === location.hash && isNew) show([problem(error instanceof TypeError ? texts.disconnected : error.message)]);
  } finally {
    painting = false;
    if (outdated && !pressed) repaint();
  }
}

function repaint() {
  if (route().live) paint(false);
}

// The click comes after the pointer has left
function release() {
  pressed = false;
  if (outdated && !painting) repaint();
}

// Whoever reads or walks by keyboard stays where they are while the view is drawn again
function show(children) {
  const focused = document.activeElement;
  const at = [...view.querySelectorAll(FOCUSABLE)].indexOf(focused);
  const scrolled = new Map([...view.querySelectorAll(".scroll")].map((one) => [one.getAttribute("aria-label"), [one.scrollLeft, one.scrollTop]]));
  const opened = new Set([...view.querySelectorAll("details[open]")].map((one) => one.id));
  view.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  for (const one of view.querySelectorAll("details[id]")) if (opened.has(one.id)) one.open = true;
  for (const one of view.querySelectorAll(".scroll")) one.scrollTo(...(scrolled.get(one.getAttribute("aria-label")) ?? [0, 0]));
  const again = (focused?.id && document.getElementById(focused.id)) || (at >= 0 && view.querySelectorAll(FOCUSABLE)[at]);
  if (again) again.focus({ preventScroll: true });
  view.setAttribute("aria-busy", "false");
}

async function go() {
  shown.abort();
  shown = new AbortController();
  const { tab } = route();
  for (const one of document.querySelectorAll("header nav a")) {
    if (one.id === `tab-${tab}`) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  view.setAttribute("aria-busy", "true");
  view.replaceChildren(empty(texts.loading));
  await paint(true);
}

const tabs = { queries: "#/", jobs: "#/jobs", topics: "#/topics", health: "#/health" };
document.getElementById("tabs").replaceChildren(...Object.entries(tabs).map(([name, href]) => element("a", { href, id: `tab-${name}` }, texts.views[name])));

const events = new EventSource("events");
events.addEventListener("queries", (event) => { queries = JSON.parse(event.data); repaint(); });
events.onopen = () => { connection.textContent = texts.connected; connection.className = "good"; };
events.onerror = () => { connection.textContent = texts.disconnected; connection.className = "bad"; };
// A context menu may take the end of a click with another button
view.addEventListener("pointerdown", (event) => { if (event.button === 0) pressed = true; });
for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, () => setTimeout(release));
document.addEventListener("visibilitychange", () => { if (outdated) repaint(); });
window.addEventListener("hashchange", () => go().then(() => view.focus({ preventScroll: true })));
go();
