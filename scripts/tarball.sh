# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The tarball that runs on any Linux: a build for an old release of Debian with the libraries linked
# statically, and the packing of an installation. Sourced by package (behind root.sh and unpack.sh)
# and by tests.
#
# Built on Debian 11: its glibc, 2.31, is the oldest that Debian's archive has. The headers of
# rdma-core are newer: the provider knows all verbs then, and works with older libraries, too.
tarball_suite=bullseye
tarball_headers=trixie
tarball_libraries=(dw elf ev jansson seccomp z bz2 lzma)
# Debian has no archive of isa-l, and one of jansson that cannot be linked into libuhcactl: these
# two go along, for uhcad and for libuhcactl.
tarball_shared=(libisal.so.2 libjansson.so.4)
tarball_packages=(libdw-dev libelf-dev libev-dev libisal-dev libjansson-dev libseccomp-dev
	zlib1g-dev libbz2-dev liblzma-dev)

tarball_name() { # VERSION MACHINE: MACHINE is x86_64 or arm64
	echo "uhca-$1-linux-$2"
}

# pack_tarball STAGE PREFIX NAME OUT SOURCES: of what "make install DESTDIR=STAGE" laid below PREFIX
# makes OUT/NAME.tar.xz and OUT/NAME.tar.xz.sha256. STAGE is used up.
pack_tarball() {
	local top=$1/$3 when=${SOURCE_DATE_EPOCH:-$(date +%s)} file
	mv "$1$2" "$top" || return 1
	# The unit names a place; the one of the packages, or of make install, has the right one.
	rm -rf "$top/lib/systemd" "$top"/lib/*.la
	mkdir -p "$top/share/doc/uhca" &&
		cp "$5/LICENSE" "$5/CHANGELOG.md" "$top/share/doc/uhca/" || return 1
	# pkg-config knows where the file is that it reads.
	# shellcheck disable=SC2016 # pkg-config's variable
	for file in "$top"/lib/pkgconfig/*.pc; do
		sed -i 's|^prefix=.*|prefix=${pcfiledir}/../..|; s|='"$2"'/|=${prefix}/|' \
			"$file" || return 1
	done
	tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rwX,go=rX \
		--mtime="@$when" -cf - "$3" | xz -T0 >"$4/$3.tar.xz" || return 1
	(cd "$4" && sha256sum "$3.tar.xz" >"$3.tar.xz.sha256")
}

# The root to build in, with headers and a folder of static libraries only: -L of it makes the
# linker take those. ARCHITECTURE: amd64 or arm64; TUPLE: the compiler's name of it
make_tarball_root() { # FOLDER ARCHITECTURE TUPLE
	local at=$1/tarball-$2 own wanted=(pkg-config valgrind patchelf) library
	own=$(dpkg --print-architecture)
	[ "$2" = "$own" ] || wanted+=("gcc-$3" "libc6-dev-$2-cross")
	foreign=
	[ "$2" = "$own" ] || foreign=$2
	make_root "$at" "$tarball_suite" buildd "${wanted[@]}" \
		"${tarball_packages[@]/%/${foreign:+:$foreign}}"
	unpack "$1/headers" "$tarball_headers" "$own" libibverbs-dev librdmacm-dev
	cp -r "$1/headers/tree/usr/include/"{infiniband,rdma} "$at/usr/include/" || return 1
	install -d "$at/srv/archives" || return 1
	for library in "${tarball_libraries[@]}"; do
		ln -sf "/usr/lib/$3/lib$library.a" "$at/srv/archives/" || return 1
	done
}

# build_for_tarball ROOT TUPLE SOURCES: as the root's user; what is installed is in ROOT/srv/stage.
build_for_tarball() {
	local at=$1 host=
	rm -rf "$at/srv/user/uhca" "$at/srv/stage" &&
		install -d -o 1000 -g 1000 "$at/srv/user/uhca" "$at/srv/stage" &&
		tar -C "$at/srv/user/uhca" --strip-components=1 -xf "$3" &&
		chown -R 1000:1000 "$at/srv/user/uhca" || return 1
	[ "$2" = "$(gcc -print-multiarch)" ] || host=--host=$2
	# shellcheck disable=SC2016 # for the shell inside
	in_root "$at" --as-user sh -ec '
		cd ~/uhca && mkdir build && cd build
		PKG_CONFIG_PATH=/usr/lib/$1/pkgconfig ../configure -q $2 \
			--without-page-server LDFLAGS=-L/srv/archives \
			LIBDW_LIBS="-ldw -lelf -lz -lbz2 -llzma -ldl -lpthread"
		make -s emu/ctl/libuhcactl.la JANSSON_LIBS="-Wl,-l:libjansson.so.4"
		make -s -j"$(nproc)" all
		make -s install DESTDIR=/srv/stage
		cd /srv/stage/usr/local
		patchelf --set-rpath "\$ORIGIN/../lib/uhca" sbin/uhcad
		patchelf --set-rpath "\$ORIGIN/uhca" lib/libuhcactl.so.*.*.*
		for library in $3; do cp -L "/usr/lib/$1/$library" lib/uhca/; done
		"$1-strip" --strip-unneeded bin/uhca* sbin/* libexec/uhca/* lib/*.so.*.*.* \
			lib/uhca/libuhca-rdmav34.so lib/uhca/libuhca_preload.so' \
		sh "$2" "$host" "${tarball_shared[*]}" || return 1
	# Whose work is linked in.
	install -d "$at/srv/stage/usr/local/share/doc/uhca/libraries" || return 1
	local package
	for package in "${tarball_packages[@]}"; do
		cp -L "$at/usr/share/doc/$package/copyright" \
			"$at/srv/stage/usr/local/share/doc/uhca/libraries/$package" || return 1
	done
}
