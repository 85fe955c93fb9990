/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork(2): pages of the arena are shared with a child, as no private memory is. The child makes
 * copies of its own before it goes on, and the parent waits for it, or for its end. Where the
 * system grants it (userfaultfd(2)), other threads of the parent wait if they store to such a page
 * meanwhile, so that the child has what was there when it came to be.
 *
 * A child that was not made by fork(3) but by clone(2) itself is not seen.
 */
#ifndef UHCAV_FORK_COPY_H
#define UHCAV_FORK_COPY_H

/* From the first adoption on. */
void uhcav_fork_copy_install(void);

#endif
