# SPDX-License-Identifier: Apache-2.0
"""Brings a node to what is planned, again and again; what fails is told once and tried again."""

import classes
import node as nodes
import plan

# Somebody may have cleared the tables of a namespace: so many steps, and each is looked at again.
STEPS_BETWEEN_LOOKS = 30


class Agent:
    """`state`: gives ([Pod], {namespace: labels}), or None while nothing is known yet."""

    def __init__(self, node, directory, state, log):
        self._node = node
        self._directory = directory
        self._state = state
        self._log = log
        self._files = None
        self._config = None
        self._loaded = {}  # {key of a script: its mark or None}
        self._tos = {}
        self._told = set()
        self._steps = 0

    @property
    def config(self):
        return self._config

    def _tell(self, troubles):
        """Each once, for as long as it lasts."""
        troubles = {trouble for trouble in troubles if trouble}
        for trouble in sorted(troubles - self._told):
            self._log(trouble)
        self._told = troubles

    def _reload(self):
        """The trouble with the input, or "". What was right before stays."""
        try:
            files = classes.read(self._directory)
            if files == self._files and self._config:
                return ""
            self._config, self._files = classes.parse(files), files
            self._log("classes: " + (", ".join(
                "%s %d" % item for item in sorted(self._config.dscps.items())) or "none"))
            return ""
        except classes.Wrong as wrong:
            return "%s: %s; %s" % (self._directory, wrong, "what was right before goes on"
                                   if self._config else "nothing is marked until it is right")

    def step(self):
        """False: there is nothing to go by yet."""
        troubles = [self._reload()]
        state = self._state()
        if self._config is None or state is None:
            self._tell(troubles)
            return False
        if self._steps % STEPS_BETWEEN_LOOKS == 0:
            self._loaded.clear()
        self._steps += 1
        processes = self._node.processes()
        planned = plan.plan(self._config, *state, processes, self._node.network())
        troubles += planned.troubles
        pids = _pids(processes, self._node.network())
        for key, script in planned.scripts.items():
            troubles.append(self._bring(key, pids[key], script))
        troubles += self._bring_devices(plan.tos_of_devices(self._config))
        self._tell(troubles)
        return True

    def _bring(self, key, pid, script):
        wanted = plan.mark_of(script)
        try:
            if key not in self._loaded:
                self._loaded[key] = nodes.mark_loaded(self._node.table(pid, key[1]))
            if self._loaded[key] != wanted:
                self._node.run(pid, key[1], script)
                self._loaded[key] = wanted
            return ""
        except nodes.Trouble as trouble:
            self._loaded.pop(key, None)
            return "%s: %s" % ("pod " + key[0] if key[0] else "this node", trouble)

    def _bring_devices(self, wanted):
        troubles = []
        for device in sorted(set(self._tos) | set(wanted)):
            # Back to the kernel's own default.
            tos = wanted.get(device, 0)
            if self._tos.get(device) == tos:
                continue
            try:
                self._node.set_tos(device, tos)
                self._tos[device] = tos
            except nodes.Trouble as trouble:
                troubles.append(str(trouble))
        self._tos = {device: tos for device, tos in self._tos.items() if device in wanted}
        return troubles

    def remove(self):
        """All that is there of it, also of one that was killed. False: something is left."""
        troubles = []
        own = self._node.network()
        for key, pid in _pids(self._node.processes(), own).items():
            try:
                if self._node.table(pid, key[1]) is not None:
                    self._node.run(pid, key[1], plan.REMOVE)
            except nodes.Trouble as trouble:
                troubles.append(str(trouble))
        self._loaded.clear()
        self._reload()
        if self._config:
            self._tos.update(plan.tos_of_devices(self._config))
        troubles += self._bring_devices({})
        for trouble in troubles:
            self._log(trouble)
        return not troubles

    def counted(self):
        """[(pod's uid or "", class, packets, bytes)]"""
        found = []
        for (uid, network), pid in _pids(self._node.processes(), self._node.network()).items():
            table = nodes.counters(self._node.table(pid, network))
            found += [(uid, cls, *numbers) for cls, numbers in sorted(table.items())]
        return found


def _pids(processes, node_network):
    """{key of a script: a process there}"""
    pids = {("", node_network): 1}
    for process in processes:
        if process.network != node_network:
            pids.setdefault((process.uid, process.network), process.pid)
    return pids
