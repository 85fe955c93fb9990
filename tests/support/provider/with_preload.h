/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests that go through the real libibverbs run behind the preload library of the build tree:
 * they start themselves again with it, and with a fresh directory as UHCA_DIR that is removed when
 * they end. What is in it is up to the test: fake_tree.h or a daemon.
 */
#ifndef TESTS_SUPPORT_WITH_PRELOAD_H
#define TESTS_SUPPORT_WITH_PRELOAD_H

/*
 * Returns when this process has the preload library (or not, when preload is false) and the
 * provider in its environment; otherwise executes the program again with them. Exits with 99
 * when there is no build tree to take them from.
 */
void with_preload(char **argv, int preload);

#endif
