// SPDX-License-Identifier: Apache-2.0
// Lines over the last minutes. A point is {t, ...values}: t in seconds, a value that is
// undefined or null leaves a gap.

const LONGEST = 300;
const SHORTEST = 60;
const SVG = 'http://www.w3.org/2000/svg';

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// The next round number.
function roundUp(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => value <= step * power * 1.000001);
}

function pathOf(points, key, x, y) {
  let path = '';
  let drawing = false;
  for (const point of points) {
    const value = point[key];
    const known = value !== undefined && value !== null;
    if (known) path += (drawing ? 'L' : 'M') + x(point.t).toFixed(1) + ' ' + y(value).toFixed(1);
    drawing = known;
  }
  return path;
}

class Chart {
  // series: [{key, name, color}], the first one filled. format: of values.
  constructor(id, series, format) {
    this.svg = byId('chart-' + id);
    this.legend = byId('legend-' + id);
    this.series = series;
    this.format = format;
    this.points = [];
    this.cursor = null;  // a point that is pointed at
    new ResizeObserver(() => this.draw()).observe(this.svg);
    this.svg.addEventListener('pointermove', (event) => this.point(event));
    this.svg.addEventListener('pointerleave', () => {
      this.cursor = null;
      this.draw();
    });
  }

  show(points) {
    this.points = points;
    if (this.cursor && !points.includes(this.cursor)) this.cursor = null;
    this.draw();
  }

  point(event) {
    const box = this.svg.getBoundingClientRect();
    const t = this.time(event.clientX - box.left);
    let best = null;
    for (const point of this.points) {
      if (!best || Math.abs(point.t - t) < Math.abs(best.t - t)) best = point;
    }
    this.cursor = best;
    this.draw();
  }

  time(x) {
    const width = this.right - this.left;
    return this.now - this.window * (1 - (x - this.left) / width);
  }

  draw() {
    const width = this.svg.clientWidth;
    const height = this.svg.clientHeight;
    if (width === 0 || this.points.length === 0) return;
    this.left = 58;
    this.right = width - 6;
    const top = 8;
    const bottom = height - 20;
    this.now = this.points[this.points.length - 1].t;
    this.window = Math.min(LONGEST, Math.max(SHORTEST, this.now - this.points[0].t));
    let highest = 0;
    for (const point of this.points) {
      for (const one of this.series) highest = Math.max(highest, point[one.key] || 0);
    }
    const peak = roundUp(highest);
    const x = (t) => this.right - (this.now - t) / this.window * (this.right - this.left);
    const y = (value) => bottom - value / peak * (bottom - top);
    const parts = this.axes(x, y, peak, width, height);
    parts.push(...this.lines(x, y, bottom));
    if (this.cursor) {
      const at = x(this.cursor.t).toFixed(1);
      parts.push(shape('line', {class: 'cursor', x1: at, x2: at, y1: top, y2: bottom}));
    }
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.svg.replaceChildren(...parts);
    this.tell();
  }

  axes(x, y, peak, width, height) {
    const parts = [];
    for (const value of [0, peak / 2, peak]) {
      const at = Math.round(y(value)) + 0.5;
      parts.push(shape('line', {class: 'grid', x1: this.left, x2: this.right, y1: at, y2: at}));
      const label = value === 0 ? '0' : this.format(value);
      parts.push(shape('text', {x: this.left - 8, y: at + 4, 'text-anchor': 'end'}, label));
    }
    const step = this.window > 2 * SHORTEST ? 60 : 20;
    for (let ago = 0; ago < this.window - step / 2; ago += step) {
      const label = ago === 0 ? 'now' : step === 60 ? `−${ago / 60} min` : `−${ago} s`;
      const anchor = ago === 0 ? 'end' : 'middle';
      const at = x(this.now - ago).toFixed(1);
      parts.push(shape('text', {x: at, y: height - 4, 'text-anchor': anchor}, label));
    }
    return parts;
  }

  lines(x, y, bottom) {
    const parts = [];
    this.series.forEach((one, index) => {
      const known = this.points.filter((p) => p[one.key] !== undefined && p[one.key] !== null);
      if (known.length === 0) return;
      if (index === 0) {
        const area = pathOf(known, one.key, x, y);
        const end = x(known[known.length - 1].t).toFixed(1);
        const begin = x(known[0].t).toFixed(1);
        const d = `${area}L${end} ${bottom}L${begin} ${bottom}Z`;
        parts.push(shape('path', {class: 'area', d}));
      }
      const line = pathOf(this.points, one.key, x, y);
      parts.push(shape('path', {class: 'line', style: `stroke: var(${one.color})`, d: line}));
    });
    return parts;
  }

  // The values of the point that is pointed at, else of the last one.
  tell() {
    const point = this.cursor || this.points[this.points.length - 1];
    const items = this.series.map((one) => {
      const value = point[one.key];
      const known = value !== undefined && value !== null;
      const text = one.name + ' ' + (known ? this.format(value) : '–');
      return element('span', {style: `--key: var(${one.color})`}, text);
    });
    if (this.cursor) items.push(`  ${span(this.now - this.cursor.t)} ago`);
    this.legend.replaceChildren(...items);
  }
}

// A line without axes, for a table.
function spark(values) {
  const svg = shape('svg', {class: 'spark', viewBox: '0 0 84 18', 'aria-hidden': 'true'});
  const peak = Math.max(...values, 1e-9);
  const points = values.map((value, i) => ({t: i, value}));
  const step = 82 / Math.max(values.length - 1, 1);
  const d = pathOf(points, 'value', (t) => 1 + t * step, (value) => 16.5 - value / peak * 15);
  svg.append(shape('path', {d}));
  return svg;
}
