// SPDX-License-Identifier: Apache-2.0
// Asks for the status every two seconds, while somebody can see it.

const PERIOD_MS = 2000;
const PATIENCE_MS = 10000;

const points = [];       // of the charts
const trends = new Map();  // of each method: the last QPS
let before = null;       // the status before
let paused = false;
let timer = null;
let asking = false;

const rateChart = new Chart('rate', [{key: 'qps', name: 'calls', color: '--one'},
  {key: 'errors', name: 'errors', color: '--two'}], digits);
const latencyChart = new Chart('latency', [{key: 'mean', name: 'mean', color: '--one'},
  {key: 'p99', name: 'p99 of a minute', color: '--two'}], micros);

function tile(name, value, more, bad) {
  return element('div', {class: bad ? 'tile bad' : 'tile'}, element('span', {}, name),
    element('b', {}, value), element('i', {}, more));
}

function showTiles(status) {
  const {all, connections, pool, process} = status;
  let cpu = '–';
  const passed = before ? status.uptime_s - before.uptime_s : 0;
  if (passed > 0) {
    const used = Math.max(0, process.cpu_s - before.process.cpu_s);
    cpu = digits(used / passed * 100) + ' %';
  }
  const share = pool.max_bytes ? pool.used_bytes / pool.max_bytes : 0;
  byId('tiles').replaceChildren(
    tile('Calls/s', digits(all.qps), count(all.calls) + ' so far'),
    tile('Errors/s', digits(all.errors_per_s), count(all.errors) + ' so far',
      all.errors_per_s > 0),
    tile('p50', micros(all.latency.p50_us), 'mean ' + micros(all.latency.mean_us)),
    tile('p99', micros(all.latency.p99_us), 'p99.9 ' + micros(all.latency.p999_us)),
    tile('In flight', count(all.in_flight), all.limit === null ? '' : 'limit ' + limitText(all)),
    tile('Connections', count(connections.open), count(connections.rdma) + ' on RDMA'),
    tile('Block pool', bytes(pool.used_bytes), 'of ' + bytes(pool.max_bytes), share > 0.9),
    tile('CPU', cpu, 'RSS ' + bytes(process.resident_bytes)));
}

function showHead(status) {
  byId('listen').textContent = status.listen;
  document.title = status.listen + ' · farcall status';
  byId('version').textContent = status.version;
  byId('uptime').textContent = span(status.uptime_s);
  byId('pid').textContent = status.process.pid;
  byId('state').textContent = status.stopping ? 'stopping' : 'serving';
  byId('state').className = status.stopping ? 'pill bad' : 'pill';
}

// The server's own memory of the last minute, for a page that was just opened.
function remember(status) {
  const start = points.length > 0 ? points[points.length - 1].t : -Infinity;
  for (const one of status.history) {
    const t = status.uptime_s - one.ago_s;
    // Too short to tell a rate.
    if (one.seconds < 0.5) continue;
    // Longer than a second: nobody called until its end.
    const begin = t - one.seconds;
    if (one.seconds > 3 && begin > start) points.push({t: begin, qps: 0, errors: 0});
    if (t <= start) continue;
    points.push({t, qps: one.qps, errors: one.errors_per_s, mean: one.mean_us || null});
  }
  points.sort((a, b) => a.t - b.t);
}

function record(status) {
  // A server that was started again counts from nothing.
  if (before && status.uptime_s < before.uptime_s) {
    points.length = 0;
    trends.clear();
    before = null;
  }
  remember(status);
  const last = points[points.length - 1];
  if (last && status.uptime_s - last.t < 0.5) points.pop();
  const latest = status.history.filter((one) => one.seconds >= 0.5 && one.ago_s < 3).pop();
  const mean = latest ? latest.mean_us : 0;
  const p99 = status.all.latency.p99_us;
  points.push({t: status.uptime_s, qps: status.all.qps, errors: status.all.errors_per_s,
    mean: mean || null, p99: p99 || null});
  while (points[0].t < status.uptime_s - LONGEST) points.shift();
  for (const method of status.methods) {
    const name = method.service + '.' + method.method;
    const trend = trends.get(name) || [];
    trend.push(method.qps);
    trends.set(name, trend.slice(-60));
  }
}

function show(status) {
  record(status);
  showHead(status);
  showTiles(status);
  rateChart.show(points);
  latencyChart.show(points);
  showMethods(status, trends);
  showConnections(status);
  showRdma(status.rdma);
  showMachine(status);
  before = status;
}

function trouble(text) {
  byId('trouble').hidden = text === '';
  byId('trouble').textContent = text;
}

async function ask() {
  if (asking) return;
  asking = true;
  try {
    const answer = await fetch(location.pathname + '?format=json',
      {cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS)});
    if (!answer.ok) throw new Error('status ' + answer.status);
    show(await answer.json());
    trouble('');
  } catch (error) {
    trouble('The server does not answer (' + error.message + '); this is what it said last.');
  }
  asking = false;
}

function schedule() {
  clearInterval(timer);
  timer = paused || document.hidden ? null : setInterval(ask, PERIOD_MS);
}

byId('pause').addEventListener('click', () => {
  paused = !paused;
  byId('pause').textContent = paused ? 'Go on' : 'Pause';
  schedule();
});
document.addEventListener('visibilitychange', schedule);
for (const id of ['methods', 'connections', 'devices']) byId(id).classList.add('cards');
show(JSON.parse(byId('first').textContent));
schedule();
