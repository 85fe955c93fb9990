/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an open of rdma_cm becomes when its daemon is gone and all that is to be told was told. With
 * a kernel such a descriptor stays what it is: nothing is readable, a reader waits. A socket whose
 * other end is closed is readable for ever instead, so another takes its number: a datagram socket
 * that is connected with itself, to which nobody else can write.
 */
#ifndef UHCA_PRELOAD_UCMA_GONE_H
#define UHCA_PRELOAD_UCMA_GONE_H

#include <stdbool.h>

/* Is the descriptor such a one? errno stays. */
bool uhca_ucma_gone_is(int fd);

/*
 * Puts one in the place of fd, with its flags. False: there is no descriptor to be had, and fd is
 * what it was.
 */
bool uhca_ucma_gone_put(int fd);

#endif
