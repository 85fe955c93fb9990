# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of pyverbs: queries and objects, and the files of rdma-core's own suite, one row each, which
# must pass as many tests of each class as docs/reference/rdma-core-suite.md says.

pyverbs_smoke() {
	timeout -k 2 240 /usr/bin/python3 "$here/rows/pyverbs_smoke.py" uhca0 \
		>"$out/said" 2>&1 </dev/null || tail -n 1 "$out/said"
}

suite() { # ARGUMENTS of rdma_core_suite.py
	timeout -k 5 240 /usr/bin/python3 "$here/rows/rdma_core_suite.py" "$@" 2>&1 </dev/null
	local status=$?
	case $status in
	0 | 1) ;; # the rows say which
	*) echo "the suite $(status_words "$status")" ;;
	esac
}

# One line of the runner: "ok FILE: counts (seconds)" or "FAIL FILE: counts (seconds)". Lines that
# are indented say which test it was.
suite_row() { # LINE
	case $1 in
	"ok "*) echo "ok   $variant rdma-core ${1#ok }" ;;
	"FAIL "*) fail rdma-core "${1#FAIL }" "see below" ;;
	"  "*) echo "     $1" ;;
	*) fail rdma-core suite "$1" ;;
	esac
}

# The suite's huge pages: what the machine has, else 16 of our own until the rows are through, and
# more as they are asked for: UCX, in rows that run beside, takes all that there are.
set_pages_aside() {
	local vm=/proc/sys/vm
	pages_before=$(cat $vm/nr_hugepages 2>/dev/null) || pages_before=
	[ "${pages_before:-0}" = 0 ] || return 0
	more_before=$(cat $vm/nr_overcommit_hugepages 2>/dev/null)
	if [ -n "$pages_before" ] && [ -w $vm/nr_hugepages ] &&
		echo 16 2>/dev/null >$vm/nr_hugepages && [ "$(cat $vm/nr_hugepages)" -gt 0 ]; then
		echo 1024 >$vm/nr_overcommit_hugepages
		return 0
	fi
	pages_before=
	skip rdma-core huge-pages "none are set aside here (vm.nr_hugepages), their tests skip"
}

give_pages_back() {
	[ "$pages_before" = 0 ] || return 0
	echo 0 >/proc/sys/vm/nr_hugepages
	echo "$more_before" >/proc/sys/vm/nr_overcommit_hugepages
}

rows_suite() {
	local file line pages_before more_before files=()
	for file in $(suite --list); do
		wanted rdma-core "$file" core && files+=("$file")
	done
	[ ${#files[@]} -gt 0 ] || return 0
	set_pages_aside
	while IFS= read -r line; do
		suite_row "$line"
	done < <(suite --expect "$root/docs/reference/rdma-core-suite.md" "${files[@]}")
	give_pages_back
}

# rdma_cm where no device has 127.0.0.1, the first address of the interface.
suite_elsewhere() {
	pick_addresses
	timeout -k 5 240 "$uhca_run" --private --addr "$first" -- \
		/usr/bin/python3 "$here/rows/rdma_core_suite.py" \
		--expect "$root/docs/reference/rdma-core-suite.md" test_rdmacm \
		>"$out/said" 2>&1 </dev/null || cat "$out/said"
}

rows_python() {
	if ! /usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null; then
		skip pyverbs all "python3-pyverbs is not installed (scripts/deps --install clients)"
		return
	fi
	try pyverbs smoke pyverbs_smoke
	if [ ! -d /usr/share/doc/rdma-core/tests ]; then
		skip rdma-core all "the tests are left out here (scripts/deps --install clients)"
		return
	fi
	rows_suite
	try rdma-core rdmacm-elsewhere suite_elsewhere
}
