/*
 * Columns of matrices that are stored by rows. A packed weight that is transposed (GPTQ, AWQ) gives a few output rows
 * only by a few bytes from each of thousands of stored rows, and reading those costs as much as reading a kibibyte:
 *
 *             lane 0    lane 1
 *   row 0   ░░░░░░░░░ ░░████░░░ ░░░     ████ what is wanted now, and next time what is beside it
 *   row 1   ░░░░░░░░░ ░░████░░░ ░░░
 *   row 2   ░░░░░░░░░ ░░████░░░ ░░░
 *
 * So when several gathers in a row were close to one another, the lane they are in is read whole and kept, a few MiB
 * of each of a few streams. A gather by itself reads nothing but what is wanted.
 */
#ifndef CORE_SOURCE_LANES_H
#define CORE_SOURCE_LANES_H

#include "core/source/source.h"

struct lanes;

/* NULL when memory is out; then lanes_read is not to be called. lanes_free(NULL) is allowed. */
struct lanes *lanes_new(void);
void lanes_free(struct lanes *l);
/* 1: buf is filled; 0: no lane serves it, the caller reads for itself; or a status with err set. The file may have
 * changed: see source_check. Thread safe. */
int lanes_read(struct lanes *l, const struct source *s, const struct gather *g, void *buf, struct err *err);

#endif
