// SPDX-License-Identifier: Apache-2.0
// What there is of RDMA: devices, why not, memory, and what happened.

const DEVICE_HEAD = [['Device'], ['State'], ['Port'], ['Connections', 'n'], ['In', 'n'],
  ['Out', 'n'], ['Messages in, out', 'n'], ['Doorbells', 'n'], ['Waits', 'n'], ['Receives', 'n'],
  ['Breaks'], ['Events']];

function talliesText(counts) {
  return Object.entries(counts).map(([name, times]) => `${name} ${count(times)}`).join(', ') || '–';
}

function deviceState(device) {
  if (!device.present) return ['gone'];
  if (device.why_not === 'in_use') return [device.open ? 'in use' : 'usable'];
  const detail = device.why_detail ? ': ' + device.why_detail : '';
  return [device.why_not, element('small', {}, device.why_text + detail)];
}

function devicePorts(device) {
  const ports = device.ports.map((port) =>
    `${port.number} ${port.active ? 'active' : 'down'}, MTU ${port.mtu_bytes}`).join('; ');
  return [ports || '–', element('small', {}, device.addresses.join(', '))];
}

function showDevices(rdma) {
  fill('devices', DEVICE_HEAD, rdma.devices.map((device) => {
    const bad = device.why_not !== 'in_use';
    const waits = `credits ${count(device.credit_waits)}, slots ${count(device.slot_waits)}, ` +
      `memory ${count(device.memory_waits)}`;
    const pairs = `${count(device.queue_pairs)} queue pairs, ${count(device.loops)} loops`;
    return {cells: [
      [[device.name, element('small', {}, device.link_layer)], 'name w'],
      [element('span', {}, ...deviceState(device)), bad ? 'bad' : ''],
      [element('span', {}, ...devicePorts(device))],
      [[count(device.connections), element('small', {},
        `${count(device.connections_ever)} ever, ${pairs}`)], 'n'],
      [bytes(device.bytes_in), 'n'], [bytes(device.bytes_out), 'n'],
      [`${count(device.messages_in)}, ${count(device.messages_out)}`, 'n'],
      [count(device.doorbells), 'n'],
      [[count(device.credit_waits + device.slot_waits + device.memory_waits),
        element('small', {}, waits)], 'n'],
      [[`${count(device.receives_posted)} of ${count(device.receive_slots)}`,
        element('small', {}, `${count(device.receives_promised)} promised`)], 'n'],
      [talliesText(device.breaks)],
      [[talliesText(device.async_events), element('small', {},
        `${count(device.removals)} removals`)]],
    ]};
  }));
}

function showRdma(rdma) {
  showDevices(rdma);
  let state = 'not looked for: RDMA was not asked for';
  if (rdma.looked) state = rdma.why_not === 'in_use' ? 'usable' : rdma.why_not;
  if (!rdma.answered) state = 'the control loop does not answer';
  byId('rdma-note').textContent = state;
  const times = (event) => event.times > 1 ? ` (${count(event.times)} times)` : '';
  const at = (event) => new Date(event.last_unix_s * 1000).toISOString();
  const events = [...rdma.events].reverse().slice(0, 20);
  fillPairs('events', events.map((event) => [at(event), event.text + times(event)]), 'none');
  const {memory} = rdma;
  fillPairs('registrations', [
    ['registered', bytes(memory.registered_bytes)], ['regions', count(memory.regions)],
    ['registrations', count(memory.registrations)],
    ['refused', count(memory.failures), memory.failures > 0 ? 'bad' : ''],
    ['time they took', fineSpan(memory.registration_s)],
    ['being set up', count(rdma.setups)],
    ['connections that stall', count(rdma.stalled), rdma.stalled > 0 ? 'bad' : ''],
    ...Object.entries(rdma.copied_bytes).map(([cause, value]) =>
      ['copied, ' + cause.replace(/_/g, ' '), bytes(value)]),
  ]);
}
