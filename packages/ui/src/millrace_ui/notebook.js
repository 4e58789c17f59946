// A query's lag in a notebook. It comes as one text with the page's modules, whose functions it uses.
import { element, empty, problem, state, trendOf } from "./page/dom.js";
import { legend, lineChart } from "./page/charts.js";
import { clock, count, texts } from "./page/texts.js";

export default {
  render({ model, el }) {
    const draw = () => el.replaceChildren(...lagOf(model.get("shown")));
    el.classList.add("millrace-chart");
    model.on("change:shown", draw);
    draw();
    return () => model.off("change:shown", draw);
  },
};

function lagOf(query) {
  const heading = element("p", { class: "heading" }, element("strong", {}, query.name), " ", state(query.state));
  const notes = query.error ? [problem(query.error)] : query.standstill ? [element("p", { class: "notes" }, query.standstill)] : [];
  if (!query.trend.length) return [heading, ...(notes.length ? notes : [empty(texts.waiting)])];
  const lines = query.lines.length > 1 ? query.lines : [{ name: texts.columns.lag, points: query.trend }];
  const rates = `${texts.columns.rowsIn} ${count(query.rowsIn)}/s · ${texts.columns.rowsOut} ${count(query.rowsOut)}/s`;
  return [
    heading,
    element("p", {}, `${texts.columns.lag} `, element("strong", {}, count(query.lag)), " ", trendOf(query) ?? "", ` · ${rates}`),
    ...notes,
    lineChart(lines, texts.lag, count, clock),
    legend(lines.map(({ name }) => name)),
  ];
}
