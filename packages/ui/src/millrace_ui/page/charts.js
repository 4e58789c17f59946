// Charts as SVG. Each has a title for readers that see no picture.
import { element, fill } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

// So that the bar of a first micro-batch is no wall
const FEWEST_BARS = 30;

function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

export function sparkline(points, label) {
  const svg = shape("svg", { viewBox: "0 0 120 28", class: "spark", role: "img", "aria-label": label, preserveAspectRatio: "none" });
  if (points.length > 1) svg.append(line(points, scaleOf([points], 120, 28, 2), "line-0"));
  return svg;
}

function scaleOf(lines, width, height, padding, above = padding) {
  const all = lines.flat();
  const times = all.map(([time]) => time);
  const first = Math.min(...times);
  const span = Math.max(Math.max(...times) - first, 1e-9);
  const top = Math.max(...all.map(([, value]) => value), 1);
  return {
    top, first, last: first + span,
    x: (time) => padding + ((time - first) / span) * (width - 2 * padding),
    y: (value) => height - padding - (value / top) * (height - padding - above),
  };
}

function line(points, scale, style) {
  const path = points.map(([time, value], at) => `${at ? "L" : "M"}${scale.x(time).toFixed(1)} ${scale.y(value).toFixed(1)}`).join("");
  return shape("path", { d: path, class: `line ${style}`, "vector-effect": "non-scaling-stroke" });
}

export function lineChart(lines, label, format, clock) {
  const [width, height] = [720, 200];
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height + 18}`, class: "chart", role: "img", "aria-label": label });
  const known = lines.filter(({ points }) => points.length);
  if (!known.length) return svg;
  const scale = scaleOf(known.map(({ points }) => points), width, height, 6, 18);
  for (const share of [0, 0.5, 1]) {
    const y = scale.y(scale.top * share);
    svg.append(shape("line", { x1: 6, x2: width - 6, y1: y, y2: y, class: "grid" }));
    svg.append(text(10, y - 3, format(scale.top * share), "start"));
  }
  known.forEach(({ points, name }, at) => {
    const style = `line-${at % 8}`;
    const [time, value] = points[0];
    const drawn = points.length > 1 ? line(points, scale, style) : shape("circle", { cx: scale.x(time), cy: scale.y(value), r: 4, class: `dot ${style}` });
    drawn.append(shape("title", {}, name));
    svg.append(drawn);
  });
  svg.append(text(6, height + 14, clock(scale.first), "start"), text(width - 6, height + 14, clock(scale.last), "end"));
  return svg;
}

function text(x, y, content, anchor) {
  return shape("text", { x, y, "text-anchor": anchor }, content);
}

export function legend(names) {
  return element("ul", { class: "legend" }, ...names.map((name, at) => element("li", {}, element("span", { class: `swatch line-${at % 8}`, "aria-hidden": "true" }), name)));
}

export function stackedBars(samples, phases, label, format, clock) {
  const [width, height] = [720, 200];
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height + 18}`, class: "chart", role: "img", "aria-label": label });
  if (!samples.length) return svg;
  const total = (sample) => phases.reduce((sum, phase) => sum + (sample.phases[phase] ?? 0), 0);
  const top = Math.max(...samples.map(total), 1);
  const step = width / Math.max(samples.length, FEWEST_BARS);
  samples.forEach((sample, at) => {
    let y = height;
    const bar = shape("g", {}, shape("title", {}, `${clock(sample.time)}, micro-batch ${sample.batch}: ${format(total(sample))}`));
    phases.forEach((phase, color) => {
      const tall = ((sample.phases[phase] ?? 0) / top) * (height - 18);
      y -= tall;
      if (tall > 0.2) bar.append(shape("rect", { x: at * step, y, width: Math.max(step - 0.5, 0.5), height: tall, class: `fill-${color % 8}` }));
    });
    svg.append(bar);
  });
  // The end of few bars is where they end, as far as the time of their beginning leaves room
  const end = Math.max(samples.length * step, 180) - 6;
  svg.append(text(6, 12, format(top), "start"), text(6, height + 14, clock(samples[0].time), "start"), text(end, height + 14, clock(samples.at(-1).time), "end"));
  return svg;
}

export function heatStrip(partitions, label, format) {
  const columns = 50;
  const rows = Math.ceil(partitions.length / columns);
  const svg = shape("svg", { viewBox: `0 0 ${columns * 10} ${rows * 14}`, class: "heat", role: "img", "aria-label": label });
  const top = Math.max(...partitions.map((one) => one.pendingRecords), 1);
  partitions.forEach((one, at) => {
    const share = one.pendingRecords ? 0.15 + 0.85 * Math.sqrt(one.pendingRecords / top) : 0;
    const cell = shape("rect", { x: (at % columns) * 10, y: Math.floor(at / columns) * 14, width: 9, height: 13, rx: 1.5, class: share ? "hot" : "cold", "fill-opacity": share ? share.toFixed(2) : null });
    cell.append(shape("title", {}, `${one.topic}-${one.partition}: ${format(one.pendingRecords)}`));
    svg.append(cell);
  });
  return svg;
}
