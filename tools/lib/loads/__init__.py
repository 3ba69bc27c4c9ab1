# SPDX-License-Identifier: Apache-2.0
"""What is measured, how, and what is made of the numbers. Sees `console` and `places`."""
