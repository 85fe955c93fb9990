/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program asks of the system about memory that is pinned, where the answer for a file's
 * pages is another than for private ones: madvise(2) and mremap(2). Such memory is made private
 * first. We stand in the slots by which the program and its libraries call these (base/got.h), and
 * behind us whoever stood there before: nothing is preloaded for this, because a tool that changes
 * the code of such functions (UCX's memory hooks) would change ours, and miss what the C library
 * itself does.
 *
 * Allocators call these, at any time: nothing here allocates or takes a lock.
 */
#ifndef UHCAV_ADVICE_H
#define UHCAV_ADVICE_H

#include <stdbool.h>

/*
 * From now on the calls of all that is loaded are heard. False: they are not, because somebody else
 * stands in a slot. Under the lock of pinning.c; again before each pinning, for what was loaded
 * since.
 */
bool uhcav_advice_listen(void);

#endif
