# SPDX-License-Identifier: Apache-2.0
"""Where servers and clients run: here, in the emulated machine, on two hosts, in two pods. Sees
`console`."""
