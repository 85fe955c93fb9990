# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# A machine with soft-RoCE: QEMU boots Debian's kernel with an initial file system that has the
# RDMA programs and a shell which other scripts reach over the wire by TCP. Sourced by try-rxe, in a
# network namespace; unpack.sh must be sourced before.

folder='' accel=auto mtu=4200 # to be set
host4=10.77.0.1 host6=fd77::1 guest4=10.77.0.11 guest6=fd77::11
shell_port=7 # TCP, in the guest
# shellcheck disable=SC2034 # of who sources this
guest_packages="linux-image-amd64 busybox-static kmod iproute2 socat ibverbs-utils \
	ibverbs-providers rdmacm-utils perftest"

# The kernel's modules that soft-RoCE on a virtio interface may ask for.
copy_modules() { # TREE ROOT
	local from to part
	from=$(echo "$1"/lib/modules/*) to=$2/lib/modules/${from##*/}
	mkdir -p "$to/kernel"
	for part in arch/x86/crypto crypto lib net/core net/ipv4 net/ipv6 fs/configfs \
		drivers/infiniband/core \
		drivers/infiniband/sw drivers/virtio drivers/net; do
		[ ! -d "$from/kernel/$part" ] || (
			cd "$from/kernel" && mkdir -p "$to/kernel/$part" &&
				find "$part" -maxdepth 3 -name '*.ko*' -size -2000k \
					-exec cp --parents -t "$to/kernel" {} +
		)
	done
	cp "$from"/modules.builtin* "$from/modules.order" "$to"
	depmod -b "$2" "${from##*/}"
}

write_init() { # ROOT
	cat >"$1/init" <<-END
		#!/bin/busybox sh
		export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
		/bin/busybox mkdir -p /proc /sys /dev /tmp /run /root /etc /applets
		/bin/busybox --install -s /applets
		export PATH=\$PATH:/applets HOME=/root
		mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
		mkdir -p /dev/shm; mount -t tmpfs shm /dev/shm
		echo /sbin/modprobe >/proc/sys/kernel/modprobe
		echo "127.0.0.1 localhost" >/etc/hosts
		echo root:x:0:0:root:/root:/bin/sh >/etc/passwd
		ulimit -l unlimited; ulimit -n 65536
		ip link set lo up
		/sbin/modprobe -a virtio_pci virtio_net
		until [ -e /sys/class/net/eth0 ]; do usleep 50000; done
		echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
		ip link set eth0 mtu \$(sed 's/.*try_rxe.mtu=//; s/ .*//' /proc/cmdline) up
		ip addr add $guest4/24 dev eth0; ip addr add $guest6/64 dev eth0
		/sbin/modprobe -a ib_uverbs rdma_ucm rdma_rxe
		rdma link add rxe0 type rxe netdev eth0
		echo try-rxe: kernel \$(uname -r) is up >/dev/console
		exec socat TCP-LISTEN:$shell_port,fork,reuseaddr EXEC:/bin/busybox\\ sh
	END
	chmod +x "$1/init"
}

# What the kernel unpacks into memory: folder/initrd.
build_initrd() {
	local root=$folder/root tree=$folder/tree
	rm -rf "$root" && mkdir -p "$root"
	(cd "$tree" && cp -a --parents bin/busybox etc/libibverbs.d "$root" &&
		find bin sbin usr/bin usr/sbin lib/x86_64-linux-gnu usr/lib/x86_64-linux-gnu lib64 \
			! -type d ! -name '*perl*' ! -name 'bash' \
			-exec cp -a --parents -t "$root" {} +)
	copy_modules "$tree" "$root" || die "the guest's modules cannot be laid out"
	write_init "$root"
	(cd "$root" && find . | "$tree/bin/busybox" cpio -o -H newc 2>/dev/null) \
		>"$folder/initrd.new" &&
		mv "$folder/initrd.new" "$folder/initrd"
	rm -rf "$root"
}

# QEMU on the interface "wire" of this namespace; guest_pid is its process.
launch() { # ACCELERATOR
	local cpu=max
	[ "$1" = kvm ] && cpu=host
	qemu-system-x86_64 -name try-rxe -nodefaults -no-user-config -display none -no-reboot \
		-machine q35 -accel "$1" -cpu "$cpu" -smp 2 -m 2048 \
		-kernel "$(echo "$folder"/tree/boot/vmlinuz-*)" -initrd "$folder/initrd" \
		-append "console=ttyS0 quiet panic=-1 mitigations=off net.ifnames=0 \
try_rxe.mtu=$mtu" \
		-netdev tap,id=wire,ifname=wire,script=no,downscript=no \
		-device "virtio-net-pci,netdev=wire,mac=52:54:00:77:00:01,host_mtu=$mtu,romfile=" \
		-serial "file:$folder/console" >"$folder/qemu.log" 2>&1 &
	guest_pid=$!
	disown # its death is no news for the terminal
}

# guest COMMAND: a shell command in the guest; its output and its status are those of this function.
guest() {
	local line status=255 connection
	exec {connection}<>"/dev/tcp/$guest4/$shell_port" || return 255
	# shellcheck disable=SC2016 # the guest's variables
	printf '{ %s\n} </dev/null 2>&1\ns=$?\necho; echo "@status $s"\nexit\n' "$1" >&"$connection"
	while IFS= read -r line <&"$connection"; do
		case $line in
		"@status "*) status=${line#@status } ;;
		*) echo "$line" ;;
		esac
	done
	exec {connection}>&-
	return "$status"
}

is_up() {
	(guest true) >/dev/null 2>&1
}

# Boots with the accelerator and waits for the guest's shell, SECONDS at most.
boot() { # ACCELERATOR SECONDS
	local end=$((SECONDS + $2))
	: >"$folder/console"
	launch "$1"
	while [ "$SECONDS" -lt "$end" ] && kill -0 "$guest_pid" 2>/dev/null; do
		grep -q 'is up' "$folder/console" && is_up && return 0
		sleep 0.2
	done
	stop_guest
	return 1
}

stop_guest() {
	[ -n "${guest_pid:-}" ] || return 0
	kill "$guest_pid" 2>/dev/null
	while kill -0 "$guest_pid" 2>/dev/null; do
		sleep 0.1
	done
	guest_pid=
}

# The wire, and the guest on it. A /dev/kvm that does not run this kernel is passed over.
start_guest() {
	[ "$folder/initrd" -nt "${BASH_SOURCE[0]}" ] || build_initrd
	ip link set lo up
	ip tuntap add dev wire mode tap || die "no tap device"
	ip link set wire mtu "$mtu" up
	echo 0 >/proc/sys/net/ipv6/conf/wire/accept_dad 2>/dev/null
	ip addr add $host4/24 dev wire
	ip -6 addr add $host6/64 dev wire nodad || die "no IPv6 address"
	if [ "$accel" != tcg ] && [ -w /dev/kvm ] && boot kvm 30; then
		accel=kvm
		return 0
	fi
	[ "$accel" != kvm ] || die "KVM does not run the guest: $(tail -n 2 "$folder/qemu.log")"
	accel=tcg
	boot tcg 240 || die "the guest does not start: see $folder/console"
}
