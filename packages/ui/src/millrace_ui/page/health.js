// The checks of doctor, plugins and versions.
import { cards, command, element, fetched, figures, section, state } from "./dom.js";
import { texts } from "./texts.js";

export async function healthView() {
  const health = await fetched("api/health");
  const missing = health.plugins.filter((plugin) => plugin.state !== "ok");
  return [
    element("h1", {}, texts.views.health),
    element("p", { class: health.isWell ? "good" : "bad" }, health.sentence),
    section(texts.checks, element("ul", { class: "findings" }, ...health.findings.map(findingOf)), command(health.command, "api/health")),
    section(`${texts.plugins} (${health.plugins.length})`,
      missing.length ? cards(Object.values(texts.pluginColumns), missing.map(pluginRow), texts.plugins) : null,
      cards(Object.values(texts.kindColumns), kindsOf(health.plugins), texts.plugins),
      command(texts.commands.plugins, "api/health")),
    section(texts.versions, figures(Object.entries(health.versions)), command(texts.commands.versions, "api/health")),
  ];
}

function findingOf(finding) {
  const place = finding.seen_from === "driver" ? "" : ` (${finding.seen_from})`;
  return element("li", {}, state(finding.level), " ", element("strong", {}, `${finding.check}: `), `${finding.target}: ${finding.message}${place}`,
    finding.remedy ? element("p", { class: "remedy" }, `→ ${finding.remedy}`) : null);
}

function pluginRow(plugin) {
  return [plugin.kind, plugin.name, plugin.package, state(plugin.state), plugin.reason ?? ""];
}

function kindsOf(plugins) {
  const kinds = new Map();
  for (const { kind, name, state: found } of plugins) if (found === "ok") kinds.set(kind, [...(kinds.get(kind) ?? []), name]);
  return [...kinds].map(([kind, names]) => [kind, names.length, names.join(", ")]);
}
