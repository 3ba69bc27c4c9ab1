// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, and elements. Text from outside enters the page by
// textContent only.

const byId = (id) => document.getElementById(id);

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function digits(value) {
  if (value === 0) return '0';
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  if (value < 0.01) return '<0.01';
  return String(Number(value.toPrecision(3)));
}

const count = (value) => value.toLocaleString('en-US');

function micros(us) {
  if (!us) return '–';
  if (us < 1000) return digits(us) + ' µs';
  if (us < 1e6) return digits(us / 1000) + ' ms';
  return digits(us / 1e6) + ' s';
}

function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  return digits(value) + ' ' + units[unit];
}

function span(seconds) {
  const whole = Math.floor(seconds);
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const first = parts.findIndex(([size]) => whole >= size);
  if (first < 0) return '0 s';
  const text = [];
  let rest = whole;
  for (const [size, unit] of parts.slice(first, first + 2)) {
    const times = Math.floor(rest / size);
    rest -= times * size;
    if (times > 0) text.push(times + ' ' + unit);
  }
  return text.join(' ');
}

const fineSpan = (seconds) => seconds < 60 ? digits(seconds) + ' s' : span(seconds);
