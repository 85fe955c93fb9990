# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154,SC2016
# What a container of Docker's is to its processes, without Docker: the user nobody, no capability
# and none to be had, a root that is read-only, and Docker's default seccomp profile. Sourced by
# clients, for its variant "docker".

# As scripts/deps lays it there; UHCA_PROFILE is another one, of any engine.
profile_file() {
	local gocode=/usr/share/gocode/src/github.com
	echo "${UHCA_PROFILE:-$gocode/docker/docker/profiles/seccomp/default.json}"
}

# What is missing, or nothing.
no_container() {
	[ "$(id -u)" = 0 ] || echo "only root can become nobody and has mounts of its own"
	unshare --mount true 2>/dev/null || echo "no mount namespaces here"
	[ -r "$(profile_file)" ] ||
		echo "no Docker profile: $(profile_file) (scripts/deps --install tests)"
}

in_container() { # TREE WRITABLE COMMAND...
	local tree=$1 writable=$2 profile
	shift 2
	profile=$(profile_file)
	cp "$UHCA_BUILDDIR/tests/support/profile" "$profile" "$tree/" || return 1
	chmod -R a+rX "$tree"
	# What is mounted upon itself is writable still when what is around it is not; /tmp as
	# engines have it: programs make their XRC domains there. What is mounted below it comes
	# along.
	unshare --mount sh -c 'mount --rbind /tmp /tmp && mount --bind "$0" "$0" &&
		mount -o remount,bind,ro / && exec "$@"' \
		"$writable" setpriv --reuid=nobody --regid=nogroup --clear-groups \
		--bounding-set=-all --inh-caps=-all --no-new-privs \
		"$tree/profile" "$tree/${profile##*/}" "$@"
}

launch_docker() {
	local missing
	missing=$(no_container)
	if [ -n "$missing" ]; then
		skip all rows "${missing//$'\n'/, }"
	else
		launch_nobody docker in_container --log-level info
	fi
}

container_is_one() {
	grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status >"$out/said"
	expect_said '^CapEff:\s0{16}$'
	expect_said '^CapBnd:\s0{16}$'
	expect_said '^NoNewPrivs:\s1$'
	expect_said '^Seccomp:\s2$'
	grep -qE '^[^ ]+ / [^ ]+ ro,' /proc/self/mounts || echo "the root is writable"
	[ "$(id -u)" != 0 ] || echo "root"
	! unshare --user true 2>/dev/null || echo "namespaces can be made"
}

# The profile of Debian 12's Docker refuses it, that of Debian 13's does not: and this one?
process_vm_allowed() {
	python3 -c 'import ctypes, os
call = ctypes.CDLL(None).process_vm_readv
raise SystemExit(call(os.getpid(), None, 0, None, 0, 0) != 0)'
}

# What the doctor says, and what the daemon does about it.
container_doctor() {
	expect_status 0 "$uhca_run" doctor
	expect_said '^note +seccomp .*filtered'
	expect_said '^good +sandbox '
	if process_vm_allowed; then
		expect_said '^good +client memory '
	else
		expect_said '^note +client memory +process_vm_readv\(2\) is refused'
	fi
	[ -n "${UHCA_PROFILE:-}" ] || expect_said 'a seccomp profile that allows userfaultfd'
}

# How the daemon reached memory: messages are long enough to be worth a call, so that it tried, and
# on demand, which is never pinned.
check_memory() {
	check_pingpong 65536 100
	if process_vm_allowed; then
		! grep "process_vm_readv(2) is refused" "$UHCA_DIR/log"
	else
		grep -q "process_vm_readv(2) is refused" "$UHCA_DIR/log" ||
			echo "the daemon has process_vm_readv(2)"
	fi
	grep -qE 'sandbox: (on$|off: built with)' "$UHCA_DIR/log" || echo "no sandbox"
}

container_memory() {
	wanted container memory core || return
	next_port
	row container memory check_memory \
		"ibv_rc_pingpong -d $server_dev -g $gid -p $port -c -n 100 -o -s 65536" \
		"ibv_rc_pingpong -d $client_dev -g $gid -p $port -c -n 100 -o -s 65536 $server_host"
}

rows_container() {
	try container privileges container_is_one
	try container doctor container_doctor
	container_memory
	rows_device
	rows_pingpong_each
	rows_perftest_each
	rows_rdmacm
	rows_fabric
	rows_direct
}
