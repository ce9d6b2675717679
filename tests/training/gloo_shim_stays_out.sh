#!/bin/sh
# usage: gloo_shim_stays_out.sh NM BINARY...   fails when a binary defines a virtual table or type information of Gloo's
# store. Ours are incomplete; as weak symbols of an executable they would take the place of libtorch's.
set -eu
nm=$1
shift
for binary in "$@"; do
  "$nm" -C "$binary" >"${TMPDIR:-/tmp}/gloo_shim.$$"
  trap 'rm -f "${TMPDIR:-/tmp}/gloo_shim.$$"' EXIT
  if grep -E '(vtable|typeinfo) (name )?for (gloo::|c10d::ProcessGroupGloo::GlooStore)' "${TMPDIR:-/tmp}/gloo_shim.$$"; then
    echo "$binary defines the lines above" >&2
    exit 1
  fi
  grep -q 'c10d::ProcessGroupGloo' "${TMPDIR:-/tmp}/gloo_shim.$$" || { echo "$binary uses no Gloo: nothing was checked" >&2; exit 1; }
done
