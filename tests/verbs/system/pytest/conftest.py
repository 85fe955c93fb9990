# SPDX-License-Identifier: BSD-2-Clause
pytest_plugins = ["uhca.pytest_plugin"]
