#!/usr/bin/env bash
# Has the program that was built for Windows do what people do with it, under Wine: `windows.sh WINE JIRD.EXE`, in the root of the
# repository. Prints what differs.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
jird() { "$wine" "$program" "$@"; }
wine=$1 program=$2
events='examples\events.ndjson'

# The first query of README.md, byte for byte, also with slashes, from a pipe and from a redirected file.
query='select Message where Elapsed > 200'
sed -n '/^\$ jird query "select Message/{n;N;N;p;q}' README.md >"$folder/wanted"
jird query "$query" "$events" >"$folder/answer"
[ "$(wc -l <"$folder/answer")" = 930 ]
head -n 3 "$folder/answer" | cmp - "$folder/wanted"
jird query "$query" examples/events.ndjson | cmp - "$folder/answer"
jird query "$query" <examples/events.ndjson | cmp - "$folder/answer"
cat examples/events.ndjson | jird query "$query" | cmp - "$folder/answer"
jird query "$query" 'examples\*ents.ndjson' | cmp - "$folder/answer"
# A reader that stops is no error.
{ jird query "$query" "$events" || echo "exit code $?" >&2; } | head -n 1 >/dev/null

# Lines that end as Windows' do.
sed 's/$/\r/' examples/events.ndjson >"$folder/crlf.ndjson"
(cd "$folder" && jird query "$query" crlf.ndjson) | cmp - "$folder/answer"
(cd "$folder" && jird validate --lines crlf.ndjson)

# From each format to the next, and back to the same records: doubles lose their spelling on the way to Parquet, and nothing after
# that. `convert` replaces files, and writes to NUL.
cd "$folder"
jird query "select Message, Elapsed where Elapsed > 200" crlf.ndjson -o start.ndjson
from=start.ndjson
for to in a.parquet a.arrow a.db end.ndjson; do
    jird convert "$from" "$to"
    from=$to
done
jird convert a.parquet first.ndjson
cmp first.ndjson end.ndjson
jird convert crlf.ndjson end.ndjson
jird convert a.db end.ndjson
cmp first.ndjson end.ndjson
jird convert start.ndjson NUL --to ndjson
jird convert a.db a.csv
jird convert a.csv a.csv.gz
jird convert a.csv.gz - --to csv | cmp - a.csv
[ -z "$(ls | grep -e part -e NUL || true)" ]

# A store.
jird ingest store crlf.ndjson --quiet
jird ingest store crlf.ndjson --quiet
[ "$(jird query --store store 'select count(*)')" = '{"count(*)":6000}' ]
jird store compact store >said

# What is wrong: exit code 1, and the place.
printf '{"a": 1}\r\n{"a": tru}\r\n' >bad.ndjson
code=0
jird validate --lines bad.ndjson >said || code=$?
[ "$code" = 1 ] && grep -q '^bad.ndjson:2:10: ' said
code=0
jird query "select a" 'nowhere\at\all.ndjson' >said 2>&1 || code=$?
[ "$code" = 2 ] && grep -qF 'nowhere\at\all.ndjson' said
