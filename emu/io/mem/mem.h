/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access to a client's memory (design D5). Two ways, chosen per piece:
 *
 *   proc_mem    pread and pwrite on the descriptor of /proc/self/mem that the client opened and
 *               passed at HELLO. Bound to the client's address space, so it works across users,
 *               user and PID namespaces and can never reach another process.
 *   process_vm  process_vm_readv and process_vm_writev by process id; faster from a page or so,
 *               needs the ptrace access right. The marker page (marker.h) keeps them to the address
 *               space that the client has registered.
 *
 * The descriptor ignores that a client may have protected pages it registered, as hardware does
 * (but not of shared memory that it made read-only), so a transfer that process_vm refuses goes by
 * it, unless the mode is process_vm; the device checks access flags itself. What a program that
 * polls its memory sees: stores of up to 8 bytes whole, and the last bytes of a longer write after
 * all others.
 *
 * A page that is not there may have to be brought by somebody else's program (userfaultfd(2), a
 * file system in user space): a thread goes for it (page_worker.h).
 */
#ifndef IO_MEM_H
#define IO_MEM_H

#include "emu/core/core.h"
#include "page_worker.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct io_present;

enum io_mem_mode {
	IO_MEM_AUTO,
	IO_MEM_PROCESS_VM,
	IO_MEM_PROC_MEM,
};

struct io_mem {
	int fd; /* the client's /proc/self/mem, read-write; owned */
	pid_t pid;
	enum io_mem_mode mode;
	bool vm_usable;  /* process_vm has not been refused yet */
	uint64_t marker; /* where the client is to map its marker page; 0: nowhere */
	struct io_present *present;
	struct io_page_worker page_worker;
};

/*
 * Takes over fd. Checks that it is a process's memory file, opened for reading and writing; pid
 * (0: unknown here) is only used for process_vm, and only when the descriptor is that process's.
 * 0 or -EINVAL (no such file), -EPERM (mode is process_vm and it cannot be used); fd is closed
 * then.
 */
int io_mem_open(struct io_mem *m, int fd, pid_t pid, enum io_mem_mode mode);
void io_mem_close(struct io_mem *m);

/*
 * core_ops.mem_read and mem_write: 0, -EFAULT, or -ESRCH when the process is gone, or its memory
 * does not answer; then all is refused so until it has.
 */
int io_mem_read(struct io_mem *m, const struct core_span *from, unsigned n, void *to);
int io_mem_write(struct io_mem *m, const struct core_span *to, unsigned n, const struct iovec *from,
		 unsigned n_from);

/* core_ops.mem_there: are its pages there, by what was found of them within the last moments? */
bool io_mem_is_there(const struct io_mem *m, const struct core_span *at);

/* The client registers memory: what was known of its pages is not known any more. */
void io_mem_forget(struct io_mem *m);

/* "process_vm+proc_mem", "process_vm" or "proc_mem": what is used now, static text. */
const char *io_mem_how(const struct io_mem *m);

#endif
