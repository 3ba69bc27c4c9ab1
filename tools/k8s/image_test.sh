#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/image with engines of our own: which it takes, and what it asks of it.
set -uo pipefail

image=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../image
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir "$room/bin" "$room/programs"
export ROOM=$room PATH="$room/bin:$PATH"
failures=0
expect() {
  if [[ $2 != $3 ]]; then
    echo "FAILED: $1: expected: $3; got: $2"
    failures=$((failures + 1))
  fi
}
# engine NAME [COMMAND]: answers "info" unless the command says otherwise.
engine() {
  printf '#!/usr/bin/env bash\n%s\necho "%s $*" >>"$ROOM/calls"\n' "${2:-}" "$1" >"$room/bin/$1"
  chmod +x "$room/bin/$1"
}
run() {
  rm -f "$room/calls"
  output=$("$image" "$@" 2>&1)
  status=$?
  calls=$(grep -v ' info$' "$room/calls" 2>/dev/null)
}

engine docker '[ "$1" = info ] || echo "${DOCKER_BUILDKIT:-}" >>"$ROOM/buildkit"'
engine podman
engine buildah
run --programs "$room/programs"
expect "docker skips the stages that no image needs" "$(sort -u "$room/buildkit")" 1
expect "both images" "$status:$output" "0:farcall:*farcall-debug:*"
expect "docker before others" "$calls" \
  "docker build --build-arg PROGRAMS=prebuilt --target farcall -t farcall:* -f k8s/Dockerfile\
 $room/programs*docker build *--target debug -t farcall-debug:*"

engine docker '[ "$1" != info ] || exit 1'
run --programs "$room/programs" farcall
expect "a command without its daemon does not count" "$calls" "podman build *"
expect "one image" "$(wc -l <<<"$calls")" 1

ENGINE_FLAGS="--root /x" run --programs "$room/programs" --engine buildah --base a:b --no-pull \
  --prefix registry/ debug
expect "options" "$calls" "buildah --root /x bud --isolation chroot --layers --pull-never\
 --build-arg BASE=a:b --build-arg PROGRAMS=prebuilt --target debug -t registry/farcall-debug:*"
expect "the tag is told" "$output" "registry/farcall-debug:*"

run --inside --engine docker farcall
expect "inside: the context is the tree" "$calls" "docker build --build-arg PROGRAMS=built *[!s]"

run --programs "$room/programs" --engine docker --arch arm64 farcall
expect "arm64: the platform, and the tag" "$calls" "docker build --platform linux/arm64\
 --build-arg PROGRAMS=prebuilt --target farcall -t farcall:*-arm64 *"
run --engine docker --arch sparc farcall
expect "an unknown architecture" "$status:$output" "2:error: --arch is arm64*"

run --engine docker --prefix registry/ qos
expect "qos needs no programs" "$calls" "docker build --target qos -t registry/farcall-qos:* -f\
 tools/qos/Dockerfile tools/qos"

engine docker 'echo "no space left"; exit 1'
run --programs "$room/programs" --engine docker
expect "an engine that fails" "$status:$output" "1:no space left"

for name in docker podman buildah; do engine "$name" 'exit 1'; done
run --programs "$room/programs"
expect "no engine: cure" "$status:$output" "1:error: neither docker*cure: *buildah*"
run --nonsense
expect "wrong arguments" "$status:$output" "2:usage:*"

[ "$failures" -eq 0 ] && echo PASSED
