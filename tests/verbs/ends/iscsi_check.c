// SPDX-License-Identifier: BSD-2-Clause
// Copies a file to an iSCSI disk, or a disk to a file, by libiscsi:
//
//   iscsi_check put|get iser://ADDRESS:PORT/TARGET/LUN FILE
//
// in requests of one block to 256 KiB, the most that libiscsi 1.19 takes. It looks at nothing but
// each request's status: who compares the disk's own file with FILE knows what went over the wire.
//
// It waits itself, not by libiscsi's *_sync calls: these give an iSER session up when the target
// has said nothing for a second ("revents is not POLLIN"), as one does beside much load.

#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK   512
#define LONGEST 512 // blocks of a request

#define TIMEOUT_MS 180000 // ms without a word of the target

static struct iscsi_context *iscsi;
static int status; // of what was asked for last; -1 while there is no answer

static void fail(const char *what)
{
	fprintf(stderr, "iscsi_check: %s: %s\n", what, iscsi_get_error(iscsi));
	exit(1);
}

static void answered(struct iscsi_context *context, int said, void *data, void *unused)
{
	(void)context;
	(void)data;
	(void)unused;
	status = said;
}

// Waits for the answer to what was asked for: asked says whether it could be.
static void finish(int asked, const char *what)
{
	struct pollfd fd;

	if (!asked)
		fail(what);
	for (status = -1; status == -1;) {
		fd.fd = iscsi_get_fd(iscsi);
		fd.events = iscsi_which_events(iscsi);
		if (poll(&fd, 1, TIMEOUT_MS) <= 0 || iscsi_service(iscsi, fd.revents) < 0)
			fail(what);
	}
	if (status != SCSI_STATUS_GOOD)
		fail(what);
}

// Returns the number of the LUN.
static int log_in(const char *address)
{
	struct iscsi_url *url;
	int lun;

	iscsi = iscsi_create_context("iqn.2024-01.org.uhca:initiator");
	url = iscsi_parse_full_url(iscsi, address);
	if (!url)
		fail(address);
	iscsi_set_targetname(iscsi, url->target);
	iscsi_set_session_type(iscsi, ISCSI_SESSION_NORMAL);
	lun = url->lun;
	finish(iscsi_full_connect_async(iscsi, url->portal, lun, answered, NULL) == 0, "log in");
	iscsi_destroy_url(url);
	return lun;
}

static uint32_t size_of_disk(int lun)
{
	struct scsi_task *task = iscsi_readcapacity10_task(iscsi, lun, 0, 0, answered, NULL);
	struct scsi_readcapacity10 *r;
	uint32_t blocks;

	finish(task != NULL, "read capacity");
	r = scsi_datain_unmarshall(task);
	blocks = r ? r->lba + 1 : 0;
	if (!r || r->block_size != BLOCK)
		fail("read capacity");
	scsi_free_scsi_task(task);
	return blocks;
}

static void transfer(int lun, uint32_t lba, uint32_t blocks, FILE *file, int put)
{
	static unsigned char bytes[LONGEST * BLOCK];
	struct scsi_task *task;
	uint32_t n = blocks * BLOCK;

	if (put && fread(bytes, BLOCK, blocks, file) != blocks)
		fail("the file is too short");
	task = put ? iscsi_write10_task(iscsi, lun, lba, bytes, n, BLOCK, 0, 0, 0, 0, 0, answered,
					NULL)
		   : iscsi_read10_task(iscsi, lun, lba, n, BLOCK, 0, 0, 0, 0, 0, answered, NULL);
	finish(task != NULL, put ? "write" : "read");
	if (!put && (task->datain.size != (int)n ||
		     fwrite(task->datain.data, BLOCK, blocks, file) != blocks))
		fail("the answer is too short");
	scsi_free_scsi_task(task);
}

int main(int argc, char **argv)
{
	static const uint32_t lengths[] = {1, 2, 7, 8, 9, 16, 127, 128, 255, 256, 500, LONGEST};
	int put = argc == 4 && strcmp(argv[1], "put") == 0, lun;
	uint32_t blocks, turn = 0;
	FILE *file;

	if (argc != 4 || !(put || strcmp(argv[1], "get") == 0)) {
		fprintf(stderr, "usage: iscsi_check put|get URL FILE\n");
		return 2;
	}
	lun = log_in(argv[2]);
	blocks = size_of_disk(lun);
	file = fopen(argv[3], put ? "r" : "w");
	if (!file)
		fail(argv[3]);
	for (uint32_t at = 0, n; at < blocks; at += n) {
		n = lengths[turn++ % (sizeof(lengths) / sizeof(lengths[0]))];
		n = n < blocks - at ? n : blocks - at;
		transfer(lun, at, n, file, put);
	}
	if (fclose(file) != 0)
		fail(argv[3]);
	finish(iscsi_logout_async(iscsi, answered, NULL) == 0, "log out");
	iscsi_destroy_context(iscsi);
	printf("iscsi_check: %u requests\n", turn);
	return 0;
}
