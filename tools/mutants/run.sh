#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh PROGRAM NUMBER: passes if the program finds something wrong with the mutant of that number.
# With 0, which is no mutant, it passes if the program says (by 1, not by a signal) that it found
# nothing.
if [ "$2" -ne 0 ]; then
  MUTANT=$2 exec "$1"
fi
MUTANT=0 "$1"
[ $? -eq 1 ]
