/* The bytes of a read as pieces of memory, where they lie. */
#ifndef CORE_FILE_VIEW_H
#define CORE_FILE_VIEW_H

#include <stdint.h>
#include <sys/uio.h>

enum { VIEW_UNITS = 64, VIEW_PIECES = 2 * VIEW_UNITS + 1 };

struct file_view {
	struct iovec pieces[VIEW_PIECES];
	int n_pieces;
	uint64_t units[VIEW_UNITS]; /* lent by the cache */
	int n_units;
};

#endif
