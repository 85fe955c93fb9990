# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures for pytest, which finds them by itself where uhca is installed; else a project's
conftest.py says: pytest_plugins = ["uhca.pytest_plugin"].

uhca            an Instance for the test alone
uhca_session    one for all tests that ask for it

Options of uhca-run for both come from a marker of the test, or of its module:
@pytest.mark.uhca(devices=2, profile="minimal"); the session's are those of --uhca, as on a command
line. When a test has failed, the report says where the last packets of its devices are, with log,
counters and objects: in a folder of uhca-results, or of --uhca-results.
"""
import errno
import pathlib
import re
import shlex

import pytest

import uhca as module

_failed = pytest.StashKey()


def pytest_addoption(parser):
    group = parser.getgroup("uhca")
    group.addoption("--uhca", default="", help="options of uhca-run for uhca_session")
    group.addoption("--uhca-results", default="uhca-results",
                    help="folder for what devices of failed tests saw last")


def pytest_configure(config):
    config.addinivalue_line("markers", "uhca(**options): options of uhca-run for the fixture uhca")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed:
        folder = _folder(item)
        item.stash[_failed] = True
        if "uhca" in getattr(item, "funcargs", {}):
            report.sections.append(("uhca", f"last packets, log, counters: {folder}"))


def _folder(item):
    results = pathlib.Path(item.config.getoption("--uhca-results")).absolute()
    return results / re.sub(r"[^A-Za-z0-9_.-]+", "-", item.nodeid)


def _options(item):
    options = {}
    for marker in reversed(list(item.iter_markers("uhca"))):
        if marker.args:
            raise module.Error(errno.EINVAL, "the marker uhca takes NAME=VALUE, as devices=2, not "
                               + ", ".join(map(repr, marker.args)))
        options.update(marker.kwargs)
    return options


@pytest.fixture
def uhca(request, tmp_path):
    kept = tmp_path / "uhca-kept"
    with module.Instance(keep=kept, **_options(request.node)) as instance:
        yield instance
    if request.node.stash.get(_failed, False):
        folder = _folder(request.node)
        folder.mkdir(parents=True, exist_ok=True)
        for file in kept.glob("*/*"):
            file.replace(folder / file.name)


@pytest.fixture(scope="session")
def uhca_session(request):
    words = shlex.split(request.config.getoption("--uhca"))
    options = {}
    while words:
        name = words.pop(0).lstrip("-")
        value = words.pop(0) if words and not words[0].startswith("--") else True
        options.setdefault(name, []).append(value)
    with module.Instance(**options) as instance:
        yield instance
