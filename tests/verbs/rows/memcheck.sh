# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2034
# Rows in which the daemon runs under valgrind's memcheck, as it is built for its users: clients
# come, talk and go, one of them killed. Whatever memcheck says is wrong, leaks at the end included.

# A daemon for uhca-run whose reports go to $out/memcheck.PID. What valgrind cannot do (it warns of
# system calls newer than itself) is not said in lines that begin with ==.
memcheck_daemon() {
	cat >"$out/uhcad" <<END
#!/bin/sh
exec valgrind -q --leak-check=full --errors-for-leak-kinds=definite,indirect,possible \\
	--log-file="$out/memcheck.%p" "$UHCA_BUILDDIR/uhcad" "\$@"
END
	chmod +x "$out/uhcad"
	export UHCA_DAEMON=$out/uhcad
}

memcheck_complaint() {
	[ -e "$(find "$out" -name 'memcheck.*' -print -quit)" ] || echo "valgrind did not run"
	grep -h '^==' "$out"/memcheck.* | head -n 20 | cut -c 1-120
}

memcheck_pingpongs() { # UHCAD-OPTIONS...
	memcheck_daemon
	begin_instance memcheck "$@"
	traffic memcheck memcheck "${write_bw[@]}"
	kill -9 "$prog_server"
	ends client 20
	endless_pingpong memcheck -e
	kill -9 "$prog_server" "$prog_client"
	wait "$pid_server" "$pid_client"
	still_serves memcheck
	end_instance "$daemon"
	memcheck_complaint
}

memcheck_crashes() {
	memcheck_daemon
	UHCA_SLACK_KB=100000 own_program verbs/rogues/crash 10 "${UHCA_SEED:-1}"
	memcheck_complaint
}

rows_memcheck() {
	export TMPDIR=$out.memcheck
	unset XDG_RUNTIME_DIR UHCA_DIR
	available memcheck pingpongs valgrind || return 0
	mkdir "$TMPDIR"
	try_kill memcheck pingpongs memcheck_pingpongs
	try_kill memcheck pingpongs-wire memcheck_pingpongs --wire
	try_kill memcheck crashes memcheck_crashes
	rm -rf "$TMPDIR"
}
