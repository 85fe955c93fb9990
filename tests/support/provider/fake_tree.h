/* SPDX-License-Identifier: BSD-2-Clause */
/* The files by which libibverbs finds a device, as the daemon makes them: for one device, uhca0. */
#ifndef TESTS_SUPPORT_FAKE_TREE_H
#define TESTS_SUPPORT_FAKE_TREE_H

/* Makes sys/ and dev/ in the directory. Ends the test if it cannot. */
void fake_tree_make(const char *dir);

/* Removes the directory and all that is in it. */
void fake_tree_remove(const char *dir);

#endif
