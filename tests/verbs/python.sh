# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows of pyverbs: a smoke test, and the files of rdma-core's own suite that lie in our scope.

pyverbs_smoke() {
	timeout -k 2 60 /usr/bin/python3 "$here/pyverbs_smoke.py" uhca0 \
		>"$out/said" 2>&1 </dev/null || tail -n 1 "$out/said"
}

suite_file() { # FILE
	if timeout -k 2 150 /usr/bin/python3 "$here/rdma_core_suite.py" "$1" \
		>"$out/said" 2>"$out/why" </dev/null; then
		grep -qE ': [1-9][0-9]* passed' "$out/said" ||
			echo "no test ran: $(tail -n 1 "$out/said")"
	else
		echo "$(tail -n 1 "$out/said")$(head -n 1 "$out/why")"
	fi
}

rows_python() {
	local file
	if ! /usr/bin/python3 -c 'import pyverbs.device' 2>/dev/null; then
		skip pyverbs all "python3-pyverbs is not installed (scripts/deps --install clients)"
		return
	fi
	try pyverbs smoke pyverbs_smoke
	if [ ! -d /usr/share/doc/rdma-core/tests ]; then
		skip pyverbs rdma-core "rdma-core's tests are not here (left out of slim images)"
		return
	fi
	for file in test_pd test_addr test_cq test_cq_events test_mr test_qp test_device \
		test_relaxed_ordering test_fork test_atomic; do
		try pyverbs "$file" suite_file "$file"
	done
}
