/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's side of the rdma_cm device (emu/abi/ucma_call.h) for tests of the preload library:
 * a thread that keeps what it was asked and gives the answers that the test has laid ready. It
 * knows nothing of connections.
 *
 * The test thread may look at everything after the call that made it has returned.
 */
#ifndef TESTS_SUPPORT_FAKE_CM_H
#define TESTS_SUPPORT_FAKE_CM_H

#include "emu/abi/ucma_call.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_CM_FILES   8
#define FAKE_CM_ANSWERS 8

struct fake_cm_answer {
	int32_t status;
	uint32_t flags;
	uint32_t length; /* of the response, as the header says */
	uint8_t response[64];
	int cut;          /* bytes that are missing at the end, or too many */
	bool no_answer;   /* none at all: the other end of the pair is closed */
	bool token_after; /* sends a token when the answer was sent */
	int closes;       /* not 0: a descriptor of the test, before it answers */
};

struct fake_cm {
	pthread_t thread;
	int listen_fd, stop_fd[2];
	int file[FAKE_CM_FILES]; /* connections, in order; -1: closed */
	unsigned n_files;

	/* Laid ready; when they are used up, success with no response. */
	struct fake_cm_answer answer[FAKE_CM_ANSWERS];
	unsigned n_answers, n_answered;

	/* What happened. */
	struct uhca_ucma_request h;  /* the last request that was not a token */
	uint8_t body[UHCA_UCMA_MAX]; /* what follows its header */
	size_t n_body;
	unsigned n_fds;
	uint64_t second; /* socket's number of the second descriptor */
	unsigned from;   /* number of the file on which it came */
	unsigned hellos;
	unsigned tokens;   /* that came back unused */
	unsigned token_of; /* number of the file on which the last did */
};

/* Starts in the directory $UHCA_DIR. Ends the test if it cannot. */
void fake_cm_start(struct fake_cm *cm);

/* As the end of the daemon's process: all is closed. */
void fake_cm_stop(struct fake_cm *cm);

/* Lays an answer ready, to be filled in. */
struct fake_cm_answer *fake_cm_will(struct fake_cm *cm, const void *response, size_t length);

/* Events wait: the token comes on file number i. */
void fake_cm_token(const struct fake_cm *cm, unsigned i);

/* The number by which the system knows a socket. */
uint64_t fake_cm_number(int fd);

#endif
