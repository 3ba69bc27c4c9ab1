# SPDX-License-Identifier: Apache-2.0
"""The commands of a page that a cluster can run; without kubelets, some of them."""

import re
import shlex

# What only a kubelet answers.
_OF_KUBELETS = ("logs", "exec")


def commands(text, step=None, kubelets=False):
    """The words of each line with kubectl, in order; of one numbered step, or of all the page."""
    if step is not None:
        text = re.search(r"(?ms)^## %d\. (.*?)(?=^## |\Z)" % step, text).group(1)
    found = []
    for block in re.findall(r"(?ms)^ *```sh\n(.*?)^ *```$", text):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] != ["kubectl"] or not kubelets and set(words) & set(_OF_KUBELETS):
                continue
            # What would go to a file is printed.
            found.append(words[1:words.index(">") if ">" in words else None])
    return found
