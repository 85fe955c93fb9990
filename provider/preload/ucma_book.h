/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this process knows of its rdma_cm ids, for the day the daemon is gone: who must hear that
 * the device was removed, and how many events each id was told, because librdmacm waits at the
 * end of an id for so many acknowledgements. While the daemon lives nobody asks here.
 *
 * An open of the device goes by its number, the socket's cookie. All is safe in threads and in
 * forked processes; when memory is short an id is simply not known.
 */
#ifndef UHCA_PRELOAD_UCMA_BOOK_H
#define UHCA_PRELOAD_UCMA_BOOK_H

#include <stdbool.h>
#include <stdint.h>

/* The id of the program's name uid is (now) of this open; again: name and open change. */
void uhca_ucma_book_enter(uint64_t file, uint32_t id, uint64_t uid);

/* A multicast group, which is told of nothing by itself. */
void uhca_ucma_book_enter_group(uint64_t file, uint32_t id, uint32_t group, uint64_t uid);

/* The id has a device now, and keeps it. */
void uhca_ucma_book_device(uint32_t id);

/* An event was handed out that names uid. */
void uhca_ucma_book_count_event(uint64_t file, uint64_t uid);

/* So many events were handed out to it. */
uint32_t uhca_ucma_book_events(uint32_t id);

/* The id is gone. True, and how many events it got, when it was known. */
bool uhca_ucma_book_strike(uint64_t file, uint32_t id, uint32_t *events);

/*
 * The next id of the open that has a device and did not hear of its removal: it is to be told now.
 * As with the kernel those without one, as listeners at any address, hear nothing.
 */
bool uhca_ucma_book_removal(uint64_t file, uint32_t *id, uint64_t *uid);
bool uhca_ucma_book_has_removal(uint64_t file); /* is there such a one? */

/* The open has another number now. */
void uhca_ucma_book_move(uint64_t from, uint64_t to);

#endif
