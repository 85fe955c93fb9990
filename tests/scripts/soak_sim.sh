#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# scripts/soak --sim: all seeds of a range, an interruption and what goes on behind it, and a wrong
# seed. Stands in for the simulator where it must be interrupted or wrong.
set -eu
src=$(cd "${UHCA_SRCDIR:?}" && pwd)
build=${UHCA_BUILDDIR:?}
dir=$(mktemp -d)
pid=
trap 'test -z "$pid" || kill "$pid" 2>/dev/null || :; rm -rf "$dir"' EXIT

die() {
	echo "soak_sim: $*" >&2
	test ! -f "$dir/out" || cat "$dir/out" >&2
	exit 1
}

has() {
	grep -q "$1" "$dir/out" || die "does not say: $1"
}

# The first 20 seeds of the simulator itself.
UHCA_BUILDDIR=$build "$src/scripts/soak" --sim 20 --folder "$dir/real" >"$dir/out" || die "failed"
has '^20 seeds right'

# Writes down what it was asked for. Of the third thousand it waits for a file, or to be ended; with
# a file it has a wrong seed.
cat >"$dir/stand-in" <<'END'
#!/bin/sh
dir=${0%/*}
if test -n "${SIM_SEED:-}"; then
	echo "here is seed $SIM_SEED"
	test "$SIM_SEED" != 4003
	exit
fi
echo "$SIM_FIRST $SIM_SEEDS" >>"$dir/asked"
if test "$SIM_FIRST" = 2001 && test ! -e "$dir/go-on"; then
	exec tail -f /dev/null
fi
test "$SIM_FIRST" != 4001 || test ! -e "$dir/wrong"
END
chmod +x "$dir/stand-in"

soak() {
	"$src/scripts/soak" --sim 4500 --jobs 1 --program "$dir/stand-in" --folder "$dir/state"
}

# Interrupted when two are done.
"$src/scripts/soak" --sim 4500 --jobs 1 --program "$dir/stand-in" --folder "$dir/state" \
	>"$dir/out" 2>&1 &
pid=$!
tries=0
until grep -q '^2001 1000' "$dir/asked" 2>/dev/null; do
	tries=$((tries + 1))
	test $tries -lt 600 || die "the third thousand was not begun"
	sleep 0.05
done
kill "$pid"
wait "$pid" && die "was not interrupted"
pid=
touch "$dir/go-on" "$dir/wrong"

# Goes on with the third, and finds the wrong one.
if soak >"$dir/out"; then
	die "a wrong seed passed"
fi
has '^seeds 1 to 4500, 2000 of them done before'
has '^4000 seeds right'
has '^FAIL seed 4003 is wrong: .*; again: SIM_SEED=4003 '
grep -q 'here is seed 4003' "$dir/state/seed-4003" || die "no output of the seed"

# What is mended goes on there.
rm "$dir/wrong"
soak >"$dir/out" || die "failed"
has '^seeds 1 to 4500, 4000 of them done before'
has '^4500 seeds right'
expected='1 1000
1001 1000
2001 1000
2001 1000
3001 1000
4001 500
4001 500'
test "$(cat "$dir/asked")" = "$expected" || die "asked for: $(cat "$dir/asked")"

# What another program did is not what this one does.
echo '# another' >>"$dir/stand-in"
soak >"$dir/out" 2>&1 && die "took another program's seeds for its own"
has 'belongs to another program'
