#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The Python module and its fixtures, by an example project (pytest/), and by a test that fails: its
# report says where the last packets are, and there they are. As it is installed pytest finds the
# fixtures by itself, and does not mind a conftest.py that names them.
set -u
srcdir=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
UHCACTL_LIBRARY=${UHCA_BUILDDIR:?}/emu/ctl/.libs/libuhcactl.so.0
case $(ldd "$UHCACTL_LIBRARY") in
*libasan* | *libtsan* | *libubsan*)
	echo "pytest.sh: a sanitized library does not go into this Python"
	exit 77
	;;
esac
for python in python3 /usr/bin/python3 ''; do
	[ -z "$python" ] || ! "$python" -c 'import pytest' 2>/dev/null || break
done
[ -n "$python" ] || {
	echo "pytest.sh: python3-pytest is missing (scripts/deps --install tests)"
	[ "${CI:-}" = true ] && exit 1
	exit 77
}
export UHCACTL_LIBRARY UHCA_RUN="$srcdir/scripts/uhca-run" PYTHONDONTWRITEBYTECODE=1 \
	PYTHONPATH="$srcdir/emu/ctl/python"
cp "$srcdir"/tests/verbs/system/pytest/*.py "$tmp/" && cd "$tmp" || exit 99

timeout -k 2 240 "$python" -m pytest -q --uhca '--devices 1 --wire' test_devices.py || exit 1
[ ! -e uhca-results ] || {
	echo "pytest.sh: traces of what passed: $(find uhca-results)"
	exit 1
}
cat >test_failure.py <<'EOF'
def test_it_fails(uhca):
    uhca.run(["ibv_devinfo"], check=True)
    assert uhca.counter("errors") == 1
EOF
timeout -k 2 240 "$python" -m pytest -q test_failure.py >said 2>&1
status=$? kept=uhca-results/test_failure.py-test_it_fails
if [ $status != 1 ] || ! grep -q "last packets.*/$kept\$" said ||
	[ ! -s $kept/recorder.pcapng ] || [ ! -s $kept/log ]; then
	cat said
	find uhca-results
	echo "pytest.sh: a test that fails does not say what its device saw"
	exit 1
fi

# A marker that is wrong is an error with the words of uhca-run, and no folder is spoken of.
cat >test_marker.py <<'EOF'
import pytest

@pytest.mark.uhca(devces=2)
def test_option(uhca):
    pass

@pytest.mark.uhca("devices=2")
def test_argument(uhca):
    pass
EOF
timeout -k 2 240 "$python" -m pytest -q test_marker.py >said 2>&1
if [ $? != 1 ] ||
	! grep -q "uhca.Error: .* unknown option --devces: did you mean '--devices'?" said ||
	! grep -q "uhca.Error: .*marker uhca takes NAME=VALUE, .* not 'devices=2'" said ||
	grep -q "last packets" said || [ -e uhca-results/test_marker.py-test_option ]; then
	cat said
	find uhca-results
	echo "pytest.sh: a wrong marker is not an error with the words of uhca-run"
	exit 1
fi

installed=$tmp/site
mkdir -p "$installed/uhca-0.dist-info" && ln -s "$srcdir/emu/ctl/python/uhca" "$installed/uhca" &&
	cp "$srcdir/emu/ctl/python/entry_points.txt" "$UHCA_BUILDDIR/emu/ctl/python/METADATA" \
		"$installed/uhca-0.dist-info/" || exit 99
for conftest in conftest.py ''; do
	[ -n "$conftest" ] || rm conftest.py
	PYTHONPATH=$installed timeout -k 2 240 "$python" -m pytest -q -k one_device \
		test_devices.py >said 2>&1 || {
		cat said
		echo "pytest.sh: ${conftest:-without conftest.py,} no fixtures are found"
		exit 1
	}
done
