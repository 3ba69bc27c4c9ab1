# SPDX-License-Identifier: Apache-2.0
"""What the programs are told and what they show: arguments, tables, pictures. Sees no other
room."""
