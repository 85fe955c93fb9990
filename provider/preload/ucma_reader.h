/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who reads the events of an open of rdma_cm. A thread that poll(2) has sent to fetch one waits for
 * ever when another thread ends the id before: its events go with it, in a kernel, too. There the
 * moment between is short; here an id ends faster than on any adapter, and a busy machine lets the
 * reader come late. So who ends an id lets the other thread have what there is to read first.
 */
#ifndef UHCA_PRELOAD_UCMA_READER_H
#define UHCA_PRELOAD_UCMA_READER_H

#include <stdint.h>

/* The calling thread fetches events of the open with this number. */
void uhca_ucma_reader_note(uint64_t file);

/*
 * Returns when nothing can be read from fd, the open with this number; at once where the calling
 * thread is its reader, or none is known that lives; and after 20 ms. A reader that has let them
 * pass is not waited for again before it has fetched something.
 */
void uhca_ucma_reader_first(int fd, uint64_t file);

#endif
