#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Joins the status page from its parts into one C++ string: embed_page.sh HTML CSS JS...
# Its place for the status stays as it is: @status@.
set -eu
html=$1
css=$2
shift 2
echo '// Made by embed_page.sh.'
echo 'namespace farcall {'
echo 'extern const char kStatusPageText[];'
printf 'const char kStatusPageText[] = R"~page~('
while IFS= read -r line; do
  case $line in
    @style@) cat "$css" ;;
    @script@) cat "$@" ;;
    *) printf '%s\n' "$line" ;;
  esac
done < "$html"
echo ')~page~";'
echo '}  // namespace farcall'
