#!/usr/bin/env bash
# Installs what `cargo xtask deep windows bigendian wasm macos` need to build for other systems and to run the results here:
# standard libraries by rustup, linkers, Wine, qemu and Node. Debian (bookworm or newer) as root. Run again at any time: what is
# there stays.
#
#   xtask/platforms.sh               installs Wine's folder into ${JIRD_TOOLS:-$HOME/.cache/jird-tools}/wine
set -euo pipefail

tools="${JIRD_TOOLS:-$HOME/.cache/jird-tools}/wine"

rustup --quiet target add x86_64-pc-windows-gnu s390x-unknown-linux-gnu wasm32-unknown-unknown wasm32-wasip1 \
    aarch64-apple-darwin

packages=(gcc-mingw-w64-x86-64-win32 wine64 gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user-static)
command -v node >/dev/null || packages+=(nodejs)
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [ -x "$tools/run" ] && "$tools/run" cmd /c ver >/dev/null 2>&1; then
    echo "platforms: wine is in $tools"
    exit 0
fi
rm -rf "$tools"
mkdir -p "$tools"

cat >"$tools/run.new" <<WRAPPER
#!/bin/sh
WINEPREFIX="$tools/prefix" WINEDEBUG=-all exec /usr/lib/wine/wine64 "\$@"
WRAPPER
chmod +x "$tools/run.new"
"$tools/run.new" wineboot --init >/dev/null 2>&1

# Wine 8 lacks this library, from which Rust's standard library has random numbers.
system="$tools/prefix/drive_c/windows/system32"
if [ ! -e "$system/bcryptprimitives.dll" ]; then
    x86_64-w64-mingw32-gcc -x c - -shared -O1 -o "$system/bcryptprimitives.dll" -ladvapi32 <<'C'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PUCHAR bytes, SIZE_T len) {
    return RtlGenRandom(bytes, (ULONG)len);
}
C
fi
mv "$tools/run.new" "$tools/run" # last, so that a broken installation is not taken for one
echo "platforms: installed wine in $tools"
