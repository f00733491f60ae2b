#!/bin/sh
# Runs a test program if it is one of this package: `only.sh crates/jird PROGRAM …`. Cargo starts each in the folder of its
# package.
package=$1
shift
case "$PWD" in */"$package") exec "$@" ;; esac
