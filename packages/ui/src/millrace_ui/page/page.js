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
let queries = [];
let facts = null;
let painting = false;
let shown = new AbortController();

// Each view by the form of its address; live ones are drawn again when something has changed
const routes = [
  { form: /^#\/query\/([^?]+)$/, tab: "queries", live: true, draw: ([id]) => queryView(id) },
  { form: /^#\/jobs$/, tab: "jobs", live: true, draw: () => jobsView() },
  { form: /^#\/topics$/, tab: "topics", live: false, draw: () => topicsView(facts) },
  { form: /^#\/topic\/([^?]+)(?:\?(.*))?$/, tab: "topics", live: false, draw: ([name, query]) => topicView(decodeURIComponent(name), query ?? "", facts, shown.signal) },
  { form: /^#\/health$/, tab: "health", live: false, draw: () => healthView() },
  { form: /^/, tab: "queries", live: true, draw: () => queriesView(queries, facts) },
];

function route() {
  return routes.find(({ form }) => form.test(location.hash));
}

async function paint(isNew) {
  const current = route();
  if (painting && !isNew) return;
  painting = true;
  const address = location.hash;
  try {
    if (isNew) document.title = `${texts.views[current.tab]} – millrace`;
    facts ??= await fetched("api/page");
    const [, ...matched] = location.hash.match(current.form);
    const children = await current.draw(matched);
    if (address === location.hash) show(children);
  } catch (error) {
    if (address === location.hash && isNew) show([problem(error instanceof TypeError ? texts.disconnected : error.message)]);
  } finally {
    painting = false;
    performance.mark("millrace-painted");
  }
}

function show(children) {
  const focused = document.activeElement?.id;
  view.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
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
events.addEventListener("queries", (event) => { queries = JSON.parse(event.data); if (route().live) paint(false); });
events.onopen = () => { connection.textContent = texts.connected; connection.className = "good"; };
events.onerror = () => { connection.textContent = texts.disconnected; connection.className = "bad"; };
window.addEventListener("hashchange", () => go().then(() => view.focus({ preventScroll: true })));
go();
