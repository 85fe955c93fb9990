# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of pyverbs: queries and objects, and the files of rdma-core's own suite, one row each, which
# must pass as many tests of each class as docs/rdma-core-suite.md says.

pyverbs_smoke() {
	timeout -k 2 60 /usr/bin/python3 "$here/pyverbs_smoke.py" uhca0 \
		>"$out/said" 2>&1 </dev/null || tail -n 1 "$out/said"
}

suite() { # ARGUMENTS of rdma_core_suite.py
	timeout -k 5 170 /usr/bin/python3 "$here/rdma_core_suite.py" "$@" 2>&1 </dev/null
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

rows_suite() {
	local file line files=()
	for file in $(suite --list); do
		wanted rdma-core "$file" core && files+=("$file")
	done
	[ ${#files[@]} -gt 0 ] || return 0
	while IFS= read -r line; do
		suite_row "$line"
	done < <(suite --expect "$root/docs/rdma-core-suite.md" "${files[@]}")
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
}
