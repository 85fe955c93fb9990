# SPDX-License-Identifier: BSD-2-Clause
"""An example, and the test of the fixtures: pytest in this folder, with uhca installed."""
import errno
import subprocess

import pytest

import uhca as module


def devices(instance):
    said = instance.run(["ibv_devices"], stdout=subprocess.PIPE, check=True).stdout
    return [line.split()[0] for line in said.decode().splitlines()[2:]]


def test_one_device(uhca):
    assert devices(uhca) == ["uhca0"]
    assert uhca.counter("errors") == 0


@pytest.mark.uhca(devices=3, profile="minimal")
def test_three_devices(uhca):
    assert devices(uhca) == ["uhca0", "uhca1", "uhca2"]


def test_a_call_fails(uhca):
    with uhca.fault("call.fail=ENOMEM call=alloc_pd nth=1") as rule:
        assert uhca.run(["ibv_rc_pingpong", "-g", "0"], stderr=subprocess.DEVNULL).returncode != 0
        rule.wait(1)
    assert rule.hits == 1


def test_a_rule_with_a_mistake(uhca):
    with pytest.raises(module.Error) as caught:
        uhca.fault("drop opcode=rc.ack nht=3")
    assert caught.value.errno == errno.EINVAL
    assert caught.value.column == 20


def test_no_such_option():
    with pytest.raises(module.Error, match="unknown option --devces: did you mean") as caught:
        module.Instance(devces=2)
    assert caught.value.errno == errno.EINVAL and caught.value.column == 0
    with pytest.raises(module.Error, match="unknown profile 'minimol': did you mean 'minimal'"):
        module.Instance(profile="minimol")


def test_a_wrong_rule_of_an_instance():
    with pytest.raises(module.Error, match="unknown word 'nht'") as caught:
        module.Instance(fault=["ecn", "drop opcode=rc.ack nht=3"])
    assert caught.value.column == 20


def test_port_and_event(uhca):
    uhca.port(False)
    said = uhca.run(["ibv_devinfo"], stdout=subprocess.PIPE, check=True).stdout
    assert b"PORT_DOWN" in said
    uhca.port(True)
    uhca.event("GID_CHANGE")


def test_an_adapter_that_vanishes(uhca):
    assert uhca.now("dev.unplug dev=uhca0") == 1
    assert devices(uhca) == []
    with pytest.raises(module.Error) as caught:
        uhca.now("dev.unplg")
    assert caught.value.column == 1


def test_shared_by_the_session(uhca_session):
    assert devices(uhca_session)
