/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program at a daemon in this process that does as a tape of bytes says (input.h): what it asks
 * for is well-formed and names what there is, so that it gets deep, but for what the tape changes.
 *
 * It may register what lies in one piece of memory, of which a part is not there; nothing that it
 * does may change another piece.
 */
#ifndef TESTS_FUZZ_DAEMON_USER_H
#define TESTS_FUZZ_DAEMON_USER_H

#include "tests/fuzz/abi_commands.h"
#include "tests/fuzz/input.h"
#include "tests/support/io/io_user.h"

#define DAEMON_USER_OBJECTS 48u
#define DAEMON_USER_QKEY    0x11111111u
#define DAEMON_USER_ARENA   (1u << 20)
#define DAEMON_USER_ACCESS                                                                         \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)

struct daemon_object {
	enum abi_kind kind;
	uint32_t handle;
	uint32_t number; /* QP, SRQ, WQ: theirs; MR, MW: the R_Key */
	uint32_t lkey;
	uint32_t type; /* QP */
	uint32_t doorbell;
	void *region;
	size_t region_size;
	struct uhca_abi_queue_layout send, recv;
	uint32_t sent, received; /* producers */
};

struct daemon_user {
	struct io_test_client c;
	struct io_device *dev; /* NULL: not open */
	struct uhca_abi_doorbell *bell;
	struct uhca_abi_active_doorbells *active_doorbells;
	struct daemon_object o[DAEMON_USER_OBJECTS];
	unsigned n;
	uint8_t token[UHCA_ABI_TOKEN_SIZE]; /* of its EXPORT */
	uint64_t was_marked;                /* where its marker page was (daemon_change.c) */
};

/* Both pieces, and the descriptors that users hand over; once. */
void daemon_memory_make(void);
void daemon_memory_free(void);
bool daemon_memory_is_intact(void);

/* The arena that all hand over loses its pages, and has them again. */
void daemon_memory_punch(void);
void daemon_memory_bring(void);

/* What may be registered, as each input finds it: frames at 0, 256, 512 and 768, then zeros. */
void daemon_memory_fill(void);

void daemon_user_open(struct daemon_user *u, struct io_daemon *d, unsigned device);
/* The same with memory of another process; takes over its descriptor. */
void daemon_user_open_elsewhere(struct daemon_user *u, struct io_daemon *d, unsigned device,
				int memory);
void daemon_user_close(struct daemon_user *u);

/* An address in the memory that may be registered, now and then one in the other piece. */
uint64_t daemon_user_address(struct fuzz_input *in);

/* Where the first begins. */
uint64_t daemon_user_memory(void);

/* The nth object of a kind, or NULL where there is none. */
struct daemon_object *daemon_user_object(struct daemon_user *u, enum abi_kind kind, unsigned n);

/* Any command. */
void daemon_user_command(struct daemon_user *u, struct fuzz_input *in);

/* The same one again and again, and dies: the user is gone when it returns. */
void daemon_user_hoard(struct daemon_user *u, struct fuzz_input *in);

/* A command that is filled in already, with this descriptor. */
void daemon_user_call(struct daemon_user *u, uint32_t cmd, void *msg, int fd);

/* Makes what is all zero but for the objects that it names a message that has its sense. */
void daemon_user_fill(struct daemon_user *u, uint32_t cmd, void *msg, struct fuzz_input *in);

/* PD, region, CQ, and a QP of a type that the tape names, in INIT. */
void daemon_user_equip(struct daemon_user *u, struct fuzz_input *in);

/* QPs of both to RTS, towards each other; or only one of them. */
void daemon_user_connect(struct daemon_user *u, struct daemon_user *peer, struct fuzz_input *in);

/* Work requests whose remote side is the peer's; the bell is another matter. */
void daemon_user_post_send(struct daemon_user *u, struct daemon_user *peer, struct fuzz_input *in);
void daemon_user_post_recv(struct daemon_user *u, struct fuzz_input *in);
void daemon_user_ring(struct daemon_user *u, struct fuzz_input *in);

/* Takes what is in the CQs unseen, and arms them. */
void daemon_user_poll(struct daemon_user *u, struct fuzz_input *in);

/* Bytes anywhere in a shared region. */
void daemon_user_scribble(struct daemon_user *u, struct fuzz_input *in);

#endif
