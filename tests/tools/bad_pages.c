/*
 * Reads a file page by page past the page cache: bad_pages FILE COPY prints how many pages cannot be read. The exit
 * status is 1 when one that can be read is not what it is in COPY.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int open_file(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | flags);

	if (fd >= 0)
		return fd;
	fprintf(stderr, "bad_pages: %s: %s\n", path, strerror(errno));
	exit(2);
}

int main(int argc, char **argv)
{
	static char page[PAGE] __attribute__((aligned(PAGE))), want[PAGE];
	int fd, copy, status = 0;
	long bad = 0;
	ssize_t n;

	if (argc != 3)
		return 2;
	fd = open_file(argv[1], O_DIRECT);
	copy = open_file(argv[2], 0);
	for (off_t at = 0; (n = pread(copy, want, PAGE, at)) > 0; at += PAGE) {
		ssize_t got = pread(fd, page, PAGE, at);

		bad += got < 0;
		if (got >= 0 && (got != n || memcmp(page, want, (size_t)n)))
			status = 1;
	}
	printf("%ld\n", bad);
	return status;
}
