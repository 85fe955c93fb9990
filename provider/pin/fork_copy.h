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

/*
 * Handlers of fork(3) that are to be installed before all others. In the child handlers run in the
 * order of installation (pthread_atfork(3)), and each may store into pinned memory: the copies come
 * first. Before the fork handlers run in the reverse order: what they store, and the locks that
 * they take, come before other threads are held. The thread that forks must store nothing then: it
 * would wait for itself.
 */
void uhcav_fork_copy_before(void);
void uhcav_fork_copy_in_parent(void);
void uhcav_fork_copy_in_child(void);

/*
 * From the first pinning on: the lock of the arena, which is taken before those of contexts. So it
 * is installed after their handlers.
 */
void uhcav_fork_copy_install(void);

#endif
