#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# scripts/soak --fuzz: targets by one seed after the other, an interruption and what goes on behind
# it, and an input that fails. Programs stand in for the targets.
set -eu
src=$(cd "${UHCA_SRCDIR:?}" && pwd)
dir=$(mktemp -d)
pid=
trap 'test -z "$pid" || kill "$pid" 2>/dev/null || :; rm -rf "$dir"' EXIT

die() {
	echo "soak_fuzz: $*" >&2
	test ! -f "$dir/out" || cat "$dir/out" >&2
	exit 1
}

has() {
	grep -q "$1" "$dir/out" || die "does not say: $1"
}

# Writes down what it was asked for. The second one waits at seed 2 for a file, or to be ended, and
# fails at seed 3.
mkdir -p "$dir/build/tests/fuzz"
cat >"$dir/build/tests/fuzz/fuzz_a" <<'END2'
#!/bin/sh
dir=${0%/build/*}
echo "${0##*/} $UHCA_SEED${FUZZ_RUNS:+ of $FUZZ_RUNS}" >>"$dir/asked"
case ${0##*/}-$UHCA_SEED in
fuzz_b-2)
	test -e "$dir/go-on" || exec tail -f /dev/null
	;;
fuzz_b-3)
	echo "here is seed 3"
	echo input >crash-b
	exit 1
	;;
esac
END2
chmod +x "$dir/build/tests/fuzz/fuzz_a"
cp "$dir/build/tests/fuzz/fuzz_a" "$dir/build/tests/fuzz/fuzz_b"
export UHCA_BUILDDIR="$dir/build" FUZZ_RUNS=7

# Interrupted when three are done.
"$src/scripts/soak" --fuzz 1 --jobs 1 --folder "$dir/state" >"$dir/out" 2>&1 &
pid=$!
tries=0
until grep -q '^fuzz_b 2' "$dir/asked" 2>/dev/null; do
	tries=$((tries + 1))
	test $tries -lt 600 || die "the second seed was not begun"
	sleep 0.05
done
kill "$pid"
wait "$pid" && die "was not interrupted"
pid=
touch "$dir/go-on"

# Goes on with the fourth, and keeps what failed.
if "$src/scripts/soak" --fuzz 1 --jobs 1 --folder "$dir/state" >"$dir/out"; then
	die "a target that failed passed"
fi
has '^2 targets, 0\.00 hours of a processor done before'
has '^5 batches right'
has '^FAIL fuzz_b with seed 3: '
grep -q 'here is seed 3' "$dir/state/fuzz_b-3/output" || die "no output of the target"
test -f "$dir/state/fuzz_b-3/crash-b" || die "the input was not kept"
test "$(ls "$dir/state")" = "done
fuzz_b-3" || die "left: $(ls "$dir/state")"
expected='fuzz_a 1
fuzz_b 1
fuzz_a 2
fuzz_b 2
fuzz_b 2
fuzz_a 3
fuzz_b 3'
test "$(cat "$dir/asked")" = "$expected" || die "asked for: $(cat "$dir/asked")"

# What was done counts: with the hours over, nothing is begun.
"$src/scripts/soak" --fuzz 0 --folder "$dir/state" >"$dir/out" || die "failed"
has '^5 batches right'
test "$(cat "$dir/asked")" = "$expected" || die "went on behind its hours"

# What other targets did is not what these do.
echo '# another' >>"$dir/build/tests/fuzz/fuzz_a"
"$src/scripts/soak" --fuzz 1 --folder "$dir/state" >"$dir/out" 2>&1 &&
	die "took other targets' batches for its own"
has 'belongs to another program'
