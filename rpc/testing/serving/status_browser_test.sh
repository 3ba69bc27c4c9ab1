#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# /status in a browser: it draws its charts and fills its tables, polls, runs nothing that came
# from outside, complains about nothing and asks nobody else.
#   status_browser_test.sh SERVER CHECK [DIRECTORY for pictures]
set -eu
server=$1 check=$2 pictures=${3-}
command -v chromium-headless-shell >/dev/null ||
  { echo "chromium-headless-shell is missing: apt-get install chromium-headless-shell"; exit 1; }
out=$(mktemp -d)
mkfifo "$out/stdin"
"$server" <"$out/stdin" >"$out/address" &
pid=$!
exec 3>"$out/stdin" # the server ends when this is closed
trap 'exec 3>&-; wait $pid || true; rm -rf "$out"' EXIT

for _ in $(seq 1200); do
  [ -s "$out/address" ] && break
  kill -0 $pid
  sleep 0.05
done
address=$(cat "$out/address")
[ -n "$address" ] || { echo "the server did not come up in a minute"; exit 1; }

# The browser's own clock runs ahead while it has nothing to wait for, so that the page polls
# several times.
browse() {
  local size=$1
  shift
  HOME=$out timeout 100 chromium-headless-shell --no-sandbox --headless --disable-gpu \
    --disable-dev-shm-usage --user-data-dir="$out/profile" --window-size="$size" \
    --hide-scrollbars --virtual-time-budget=9000 --enable-logging=stderr \
    --log-net-log="$out/net.json" "$@" "http://$address/status"
}

for size in 1200,1800 400,3400; do
  browse "$size" --dump-dom >"$out/page.html" 2>"$out/log" || { cat "$out/log"; exit 1; }
  python3 "$check" "$address" "$out/page.html" "$out/log" "$out/net.json" ||
    { cat "$out/log"; exit 1; }
  if [ -n "$pictures" ]; then
    browse "$size" --screenshot="$pictures/status-${size%,*}.png" 2>/dev/null
  fi
done
