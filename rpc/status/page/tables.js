// SPDX-License-Identifier: Apache-2.0
// Tables from the status. A cell is [text or element, class].

function fill(id, head, rows) {
  const table = byId(id);
  const body = element('tbody');
  for (const {cells, kind} of rows) {
    const row = element('tr', kind ? {class: kind} : {});
    cells.forEach(([content, style], i) => {
      const attributes = {'data-label': head[i][0]};
      if (style) attributes.class = style;
      row.append(element('td', attributes, ...[].concat(content)));
    });
    body.append(row);
  }
  const names = element('tr', {});
  for (const [name, style] of head) names.append(element('th', style ? {class: style} : {}, name));
  table.replaceChildren(element('thead', {}, names), body);
}

function fillPairs(id, pairs, none) {
  const rows = pairs.map(([name, value, style]) =>
    element('tr', {}, element('td', {}, name), element('td', style ? {class: style} : {}, value)));
  if (rows.length === 0) rows.push(element('tr', {}, element('td', {class: 'wide'}, none)));
  byId(id).replaceChildren(element('tbody', {}, ...rows));
}

function limitText(of) {
  if (of.limit === null) return '–';
  return count(of.limit) + (of.limit_auto ? ' auto' : '');
}

function codesText(codes) {
  return Object.entries(codes).filter(([name]) => name !== 'OK')
    .map(([name, times]) => `${name} ${count(times)}`).join(', ');
}

const METHOD_HEAD = [['Method'], ['Trend'], ['QPS', 'n'], ['p50', 'n'], ['p90', 'n'], ['p99', 'n'],
  ['p99.9', 'n'], ['In flight', 'n'], ['Limit', 'n'], ['Calls', 'n'], ['Errors', 'n']];

function showMethods(status, trends) {
  const methods = [...status.methods].sort((a, b) => (b.calls > 0) - (a.calls > 0));
  const rows = methods.map((method) => {
    const latency = method.latency;
    const errors = [count(method.errors)];
    const codes = codesText(method.codes);
    if (codes) errors.push(element('small', {}, codes));
    return {
      kind: method.calls + method.refused === 0 ? 'idle' : '',
      cells: [
        [[method.method, element('small', {}, method.service + (method.on_pool ? ', on handler threads' : ''))], 'name'],
        [method.calls > 0 ? spark(trends.get(method.service + '.' + method.method) || []) : ''],
        [digits(method.qps), 'n'], [micros(latency.p50_us), 'n'], [micros(latency.p90_us), 'n'],
        [micros(latency.p99_us), 'n'], [micros(latency.p999_us), 'n'],
        [count(method.in_flight), 'n'], [limitText(method), 'n'], [count(method.calls), 'n'],
        [element('span', {}, ...errors), method.errors > 0 ? 'n bad' : 'n'],
      ],
    };
  });
  fill('methods', METHOD_HEAD, rows);
  const seconds = Math.round(status.all.latency.window_s);
  byId('methods-note').textContent = `QPS now, latency of the last ${span(seconds)}`;
}

const CONNECTION_HEAD = [['Peer'], ['Transport'], ['Protocol'], ['In flight', 'n'],
  ['Requests', 'n'], ['In', 'n'], ['Out', 'n'], ['Age', 'n']];

function transportCell(connection) {
  const parts = [connection.transport + (connection.device ? ' ' + connection.device : '')];
  if (connection.tls) parts.push(element('small', {}, connection.tls));
  if (connection.why_not_rdma !== 'in_use' && connection.why_not_rdma !== 'not_asked') {
    const detail = connection.why_detail ? ': ' + connection.why_detail : '';
    parts.push(element('small', {title: connection.why_text + detail}, connection.why_not_rdma));
  }
  const {rdma} = connection;
  if (rdma.upgrades > 0) {
    const waits = rdma.credit_waits + rdma.slot_waits + rdma.memory_waits;
    const last = rdma.last_fallback ? ` (${rdma.last_fallback})` : '';
    parts.push(element('small', {}, `generation ${rdma.generation}, credits ${rdma.credits}, ` +
      `${count(waits)} waits, ${count(rdma.fallbacks)} fallbacks${last}`));
  }
  return parts;
}

function showConnections(status) {
  const connections = status.connections;
  const list = [...connections.list].sort((a, b) => b.requests - a.requests);
  const rows = list.map((one) => {
    const who = [one.peer || 'a client of ' + one.local];
    const user = [one.user, one.tls_peer].filter((name) => name).join(', ');
    if (user) who.push(element('small', {}, user));
    return {
      cells: [[who, 'name'], [element('span', {}, ...transportCell(one))],
        [one.protocol || '–', 'w'], [count(one.in_flight), 'n'], [count(one.requests), 'n'],
        [bytes(one.bytes_in), 'n'], [bytes(one.bytes_out), 'n'], [span(one.age_s), 'n']],
    };
  });
  fill('connections', CONNECTION_HEAD, rows);
  const shown = connections.shown < connections.open ? `, ${count(connections.shown)} shown` : '';
  byId('connections-note').textContent =
    `${count(connections.open)} open, ${count(connections.tcp)} on TCP, ` +
    `${count(connections.rdma)} on RDMA${shown}`;
}

const LOOP_HEAD = [['Loop', 'n'], ['Connections', 'n'], ['Turns', 'n'], ['Sleeps', 'n'],
  ['Answered in', 'n']];

function showMachine(status) {
  fill('loops', LOOP_HEAD, status.loops.map((loop, i) => ({
    cells: [[String(i), 'n'], [loop.answered ? count(loop.connections) : '–', 'n'],
      [count(loop.turns), 'n'], [count(loop.sleeps), 'n'],
      loop.answered ? [micros(loop.answer_us), 'n'] : ['not in time', 'n bad']],
  })));
  const words = (name) => name.replace(/_/g, ' ');
  fillPairs('counters', Object.entries(status.counters).map(([name, value]) =>
    [words(name), count(value)]));
  fillPairs('fallbacks', [['went over to RDMA', count(status.rdma.upgrades)],
    ...Object.entries(status.rdma.fallbacks).map(([name, value]) => [words(name), count(value)])]);
  const {pool, process} = status;
  fillPairs('machine', [
    ['blocks in use', bytes(pool.used_bytes)], ['pool mapped', bytes(pool.mapped_bytes)],
    ['pool limit', bytes(pool.max_bytes)], ['blocks taken', count(pool.allocations)],
    ['blocks wanted in vain', count(pool.exhausted), pool.exhausted > 0 ? 'bad' : ''],
    ['huge pages', pool.huge_pages ? 'yes' : 'no'],
    ['resident memory', bytes(process.resident_bytes)], ['CPU time', fineSpan(process.cpu_s)],
    ['descriptors', `${count(process.open_fds)} of ${count(process.max_fds)}`],
    ['threads', count(process.threads)], ['handler threads', status.handler_threads || 'inline'],
    ['waiting for one', count(status.waiting), status.waiting > 0 ? 'bad' : ''],
    ['loops taken over', count(status.loops_taken_over)],
    ['loops held up', count(status.loops_held_up), status.loops_held_up > 0 ? 'bad' : ''],
  ]);
  fillPairs('options', Object.entries(status.options));
  const from = status.runtime_options_from;
  fillPairs('runtime_options', Object.entries(status.runtime_options).map(([name, value]) => [
    name, from[name] === 'default' ? value : `${value}, from ${from[name]}`]));
}
