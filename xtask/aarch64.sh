#!/usr/bin/env bash
# Installs what `cargo xtask test` needs to build for aarch64 and to run the result here: a Rust compiler with the
# standard library for aarch64, a linker with its C library, and qemu. Debian (bookworm or newer) as root.
#
# The compiler is Debian's `rustc-web`. It conflicts with a packaged rustup, and nothing else here should start using
# it, so its packages are unpacked into a folder and not installed. Run again at any time: what is there stays.
#
#   xtask/aarch64.sh                 installs into ${JIRD_TOOLS:-$HOME/.cache/jird-tools}/aarch64
#   cargo xtask test aarch64         uses it
set -euo pipefail

tools="${JIRD_TOOLS:-$HOME/.cache/jird-tools}/aarch64"

if [ -x "$tools/rustc" ] && "$tools/rustc" --version >/dev/null 2>&1 &&
    command -v aarch64-linux-gnu-gcc qemu-aarch64-static >/dev/null; then
    echo "aarch64: $("$tools/rustc" --version) is in $tools"
    exit 0
fi

dpkg --add-architecture arm64
apt-get update -qq
# The libraries after the first line are what the compiler itself loads.
apt-get install -y -qq --no-install-recommends gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static \
    libedit2 libxml2 libz3-4 libzstd1 zlib1g libstdc++6 >/dev/null

# The versioned packages change their names with every release: read them off the dependencies.
depends_on() { # PACKAGE PATTERN
    apt-cache show --no-all-versions "$1" | sed -n 's/^Depends: //p' | tr ',' '\n' |
        sed 's/^ *//; s/[ (:].*//' | grep -Ex -m1 "$2"
}
runtime=$(depends_on libstd-rust-web-dev 'libstd-rust-web-[0-9.]+')
llvm=$(depends_on "$runtime" 'libllvm[0-9]+')

rm -rf "$tools"
mkdir -p "$tools"
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
chmod 777 "$packages" # apt downloads as a user of its own
(cd "$packages" && apt-get download -qq rustc-web libstd-rust-web-dev libstd-rust-web-dev:arm64 "$runtime" "$llvm")
for package in "$packages"/*.deb; do
    dpkg -x "$package" "$tools/root"
done

cat >"$tools/rustc.new" <<WRAPPER
#!/bin/sh
LD_LIBRARY_PATH="$tools/root/usr/lib/x86_64-linux-gnu" exec "$tools/root/usr/bin/rustc" "\$@"
WRAPPER
chmod +x "$tools/rustc.new"
"$tools/rustc.new" --version >/dev/null
mv "$tools/rustc.new" "$tools/rustc" # last, so that a broken installation is not taken for one
echo "aarch64: installed $("$tools/rustc" --version) in $tools"
