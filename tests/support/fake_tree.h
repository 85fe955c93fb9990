/* SPDX-License-Identifier: BSD-2-Clause */
/* The files by which libibverbs finds a device, as the daemon makes them: for one device, uhca0. */
#ifndef TESTS_SUPPORT_FAKE_TREE_H
#define TESTS_SUPPORT_FAKE_TREE_H

#include <stddef.h>

/* Makes a fresh directory with sys/ and dev/ in it; its name goes to dir. Ends the test if not. */
void fake_tree_make(char *dir, size_t size);

/* Removes it and all that is in it. */
void fake_tree_remove(const char *dir);

#endif
