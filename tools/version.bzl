# SPDX-License-Identifier: Apache-2.0
"""The version of the library, said here and nowhere else."""

FARCALL_VERSION = "0.1.0"
