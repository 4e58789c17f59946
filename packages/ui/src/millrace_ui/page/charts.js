// Charts as SVG. Each has a title for readers that see no picture.
import { element, fill } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

// So that the bar of a first micro-batch is no wall
const FEWEST_BARS = 30;

const SHADES = 8;

function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

export function sparkline(points, label) {
  const svg = shape("svg", { viewBox: "0 0 120 28", class: "spark", role: "img", "aria-label": label, preserveAspectRatio: "none" });
  if (points.length > 1) svg.append(line(points, scaleOf([points], 120, 28, 2), "color-0"));
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
    const style = `color-${at % 8}`;
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

// Lines differ by their dashes, too, and bars by their order from below
export function legend(names, isOfBars = false) {
  const items = names.map((name, at) => element("li", {}, isOfBars ? element("span", { class: `swatch bar color-${at % 8}`, "aria-hidden": "true" }) : lineSwatch(at), name));
  return element("ul", { class: "legend" }, ...items);
}

function lineSwatch(at) {
  return shape("svg", { viewBox: "0 0 28 8", class: "swatch", "aria-hidden": "true" }, shape("path", { d: "M0 4H28", class: `line color-${at % 8}` }));
}

// A path for each phase: an element for each part of each bar would be hundreds to draw anew with each micro-batch
export function stackedBars(samples, phases, label, format, clock, describe) {
  const [width, height] = [720, 200];
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height + 18}`, class: "chart", role: "img", "aria-label": label });
  if (!samples.length) return svg;
  const total = (sample) => phases.reduce((sum, phase) => sum + (sample.phases[phase] ?? 0), 0);
  const top = Math.max(...samples.map(total), 1);
  const step = width / Math.max(samples.length, FEWEST_BARS);
  const wide = Math.max(step - 0.5, 0.5).toFixed(1);
  const paths = phases.map(() => "");
  samples.forEach((sample, at) => {
    let y = height;
    phases.forEach((phase, color) => {
      const tall = ((sample.phases[phase] ?? 0) / top) * (height - 18);
      y -= tall;
      if (tall > 0.2) paths[color] += `M${(at * step).toFixed(1)} ${y.toFixed(1)}h${wide}v${tall.toFixed(1)}h-${wide}z`;
    });
  });
  paths.forEach((path, color) => { if (path) svg.append(shape("path", { d: path, class: `bar color-${color % 8}` })); });
  // The end of few bars is where they end, as far as the time of their beginning leaves room
  const end = Math.max(samples.length * step, 180) - 6;
  svg.append(text(6, 12, format(top), "start"), text(6, height + 14, clock(samples[0].time), "start"), text(end, height + 14, clock(samples.at(-1).time), "end"));
  return hint(svg, (x) => { const sample = samples[Math.floor(x / step)]; return sample && describe(sample, total(sample)); });
}

// A path for each shade, not an element for each partition
export function heatStrip(lags, label, format) {
  const columns = 50;
  const rows = Math.ceil(lags.length / columns);
  const svg = shape("svg", { viewBox: `0 0 ${columns * 10} ${rows * 14}`, class: "heat", role: "img", "aria-label": label });
  const top = Math.max(...lags.map(([, lag]) => lag), 1);
  const shades = Array(SHADES + 1).fill("");
  lags.forEach(([, lag], at) => {
    shades[lag ? Math.ceil(SHADES * Math.sqrt(lag / top)) : 0] += `M${(at % columns) * 10} ${Math.floor(at / columns) * 14}h9v13h-9z`;
  });
  shades.forEach((path, shade) => { if (path) svg.append(shape("path", { d: path, class: shade ? "hot" : "cold", "fill-opacity": shade ? (0.15 + (0.85 * shade) / SHADES).toFixed(2) : null })); });
  return hint(svg, (x, y) => { const one = lags[Math.floor(y / 14) * columns + Math.floor(x / 10)]; return one && `${one[0]}: ${format(one[1])}`; });
}

// What the pointer is on, as the chart's title
function hint(svg, textAt) {
  const title = shape("title");
  svg.prepend(title);
  svg.addEventListener("pointermove", (event) => {
    const [box, view] = [svg.getBoundingClientRect(), svg.viewBox.baseVal];
    title.textContent = textAt(((event.clientX - box.left) / box.width) * view.width, ((event.clientY - box.top) / box.height) * view.height) ?? "";
  });
  return svg;
}
