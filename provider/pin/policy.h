/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * May the pages of this process be replaced without anybody noticing? Who holds pages by another
 * way than their addresses would go on with the old ones (io_uring's registered buffers,
 * asynchronous I/O, vfio, real adapters); threads may store while a page is copied.
 */
#ifndef UHCAV_POLICY_H
#define UHCAV_POLICY_H

#include "emu/abi/cmd.h"
#include "replace.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Of the process: UHCA_ABI_BORROWED_UNTOLD: it may, by *stop; else the reason against it.
 * own_threads: how many threads of the process are ours, and keep away from the program's memory.
 */
enum uhca_abi_borrowed uhcav_policy_process(enum uhca_abi_pin mode, unsigned own_threads,
					    enum uhcav_stop *stop);

/*
 * Of [from, to), one mapping or a part of it, which is plain. *not_forked: a child is not to have
 * it (MADV_DONTFORK), and must not have what takes its place.
 */
enum uhca_abi_borrowed uhcav_policy_range(uintptr_t from, uintptr_t to, bool *not_forked);

#endif
