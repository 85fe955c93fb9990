/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a daemon that ends has left to send. The end of rdma_cm ids and of clients makes messages
 * for their peers (DREQ, DREP, REJ), which a peer in another daemon waits for.
 */
#ifndef IO_LAST_WORDS_H
#define IO_LAST_WORDS_H

struct io_devices;

/*
 * Sends what the devices have, for 100 ms of each at the most: once, nobody is left to repeat it.
 * Devices without a buffer to send from, of a daemon that never began, have nothing.
 */
void io_last_words(const struct io_devices *all);

#endif
