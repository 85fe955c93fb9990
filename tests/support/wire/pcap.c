/* SPDX-License-Identifier: BSD-2-Clause */
/* See pcap.h. Format: draft-ietf-opsawg-pcap (24-byte file header, 16-byte record headers). */
#include "pcap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_MICRO       0xa1b2c3d4u
#define FILE_HEADER       24
#define RECORD_HEADER     16
#define SNAPLEN           65535
#define LINKTYPE_ETHERNET 1
#define LINKTYPE_RAW      101
#define ETHERNET_HEADER   14
#define ETHERTYPE_IPV4    0x0800
#define ETHERTYPE_IPV6    0x86dd

static uint32_t load32(const struct pcap *p, size_t at)
{
	uint32_t v;

	memcpy(&v, p->bytes + at, sizeof(v));
	return p->swapped ? __builtin_bswap32(v) : v;
}

static int load_file(const char *path, struct pcap *out)
{
	FILE *f = fopen(path, "rb");
	long size;
	int rc;

	if (!f)
		return -errno;
	if (fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0) {
		rc = -errno;
		goto out_close;
	}
	out->len = (size_t)size;
	out->bytes = malloc(out->len + 1);
	rc = out->bytes ? 0 : -ENOMEM;
	if (rc == 0 && fread(out->bytes, 1, out->len, f) != out->len) {
		free(out->bytes);
		rc = -EIO;
	}
out_close:
	fclose(f);
	return rc;
}

int pcap_open(const char *path, struct pcap *out)
{
	memset(out, 0, sizeof(*out));
	int rc = load_file(path, out);

	if (rc < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(-rc));
		return rc;
	}
	if (out->len >= FILE_HEADER) {
		out->swapped = load32(out, 0) == __builtin_bswap32(MAGIC_MICRO);
		out->linktype = load32(out, 20);
	}
	if (out->len < FILE_HEADER || load32(out, 0) != MAGIC_MICRO ||
	    (out->linktype != LINKTYPE_ETHERNET && out->linktype != LINKTYPE_RAW)) {
		fprintf(stderr, "%s: not a pcap file of Ethernet or raw IP\n", path);
		pcap_close(out);
		return -EINVAL;
	}
	out->at = FILE_HEADER;
	return 0;
}

/* The next frame as captured, whatever it carries. */
static bool next_frame(struct pcap *p, const uint8_t **frame, size_t *len)
{
	if (p->at == p->len || p->error)
		return false;
	if (p->len - p->at < RECORD_HEADER ||
	    p->len - p->at - RECORD_HEADER < load32(p, p->at + 8)) {
		p->error = true;
		return false;
	}
	*frame = p->bytes + p->at + RECORD_HEADER;
	*len = load32(p, p->at + 8);
	p->time = load32(p, p->at) * UINT64_C(1000000000) + load32(p, p->at + 4) * UINT64_C(1000);
	p->at += RECORD_HEADER + *len;
	return true;
}

bool pcap_next(struct pcap *p, const uint8_t **ip, size_t *len)
{
	const uint8_t *frame;
	size_t n;

	while (next_frame(p, &frame, &n)) {
		size_t skip = 0;

		if (p->linktype == LINKTYPE_ETHERNET) {
			const unsigned type = n < ETHERNET_HEADER ? 0 : frame[12] << 8 | frame[13];

			if (type != ETHERTYPE_IPV4 && type != ETHERTYPE_IPV6)
				continue;
			skip = ETHERNET_HEADER;
		}
		*ip = frame + skip;
		*len = n - skip;
		return true;
	}
	return false;
}

void pcap_close(struct pcap *p)
{
	free(p->bytes);
	memset(p, 0, sizeof(*p));
}

static int write_words(FILE *f, const uint32_t *words, size_t n)
{
	return fwrite(words, sizeof(*words), n, f) == n ? 0 : -EIO;
}

int pcap_write_header(FILE *f)
{
	uint32_t words[FILE_HEADER / 4] = {MAGIC_MICRO, 0, 0, 0, SNAPLEN, LINKTYPE_RAW};
	const uint16_t version[2] = {2, 4};

	memcpy(&words[1], version, sizeof(version));
	return write_words(f, words, FILE_HEADER / 4);
}

int pcap_write_packet(FILE *f, const uint8_t *ip, size_t len)
{
	const uint32_t words[RECORD_HEADER / 4] = {0, 0, (uint32_t)len, (uint32_t)len};
	const int rc = len <= SNAPLEN ? write_words(f, words, RECORD_HEADER / 4) : -EMSGSIZE;

	return rc == 0 && fwrite(ip, 1, len, f) != len ? -EIO : rc;
}
