#include "fs/stream.h"

#include "core/file/serve.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_HELPERS = 16, MAX_PIECES = 2 * MAX_HELPERS };

struct piece {
	char *data;
	ssize_t n; /* bytes, 0 at the end, or a negative status */
	bool full;
	char msg[1024];
};

struct stream {
	struct hfgguf_model *m;
	size_t file;
	uint64_t start, end; /* piece i begins at start + i * STREAM_PIECE_BYTES and is in the slot i % n_pieces */
	pthread_t helpers[MAX_HELPERS];
	unsigned n_helpers, n_pieces;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* The lock guards `full` and what follows; a piece belongs to one side at a time. */
	struct piece pieces[MAX_PIECES];
	uint64_t to_fill, to_use; /* numbers of pieces */
	bool held, stop;          /* the caller holds the piece before to_use; nothing more is to be filled */
};

/* A whole piece, or what is left of the file: a short count elsewhere would end the copy early and silently. */
static ssize_t fill(struct stream *s, struct piece *p, uint64_t offset)
{
	size_t want = s->end - offset < STREAM_PIECE_BYTES ? (size_t)(s->end - offset) : STREAM_PIECE_BYTES;
	ssize_t n = want ? serve_once(s->m, s->file, p->data, want, offset, p->msg, sizeof(p->msg)) : 0;

	if (n < 0 || (size_t)n == want)
		return n;
	snprintf(p->msg, sizeof(p->msg), "%s: ends at byte %llu of %llu", hfgguf_name(s->m, s->file),
		 (unsigned long long)offset + (unsigned long long)n, (unsigned long long)s->end);
	return HFGGUF_IO;
}

/* Where piece i begins; the end of the file for all behind it. */
static uint64_t offset_of(const struct stream *s, uint64_t i)
{
	uint64_t left = s->end - s->start;

	return i <= left / STREAM_PIECE_BYTES ? s->start + i * STREAM_PIECE_BYTES : s->end;
}

static void *help(void *arg)
{
	struct stream *s = arg;

	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		uint64_t i = s->to_fill;
		struct piece *p = &s->pieces[i % s->n_pieces];

		if (p->full || i >= s->to_use + s->n_pieces - s->held) {
			pthread_cond_wait(&s->changed, &s->lock);
			continue;
		}
		s->to_fill++;
		pthread_mutex_unlock(&s->lock);
		p->n = fill(s, p, offset_of(s, i));
		pthread_mutex_lock(&s->lock);
		p->full = true;
		s->stop |= p->n <= 0;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void free_parts(struct stream *s)
{
	for (unsigned i = 0; i < s->n_pieces; i++)
		free(s->pieces[i].data);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s);
}

static bool start(struct stream *s, unsigned n)
{
	for (s->n_pieces = 0; s->n_pieces < 2 * n; s->n_pieces++) {
		void *data = NULL;

		if (posix_memalign(&data, 4096, STREAM_PIECE_BYTES))
			return false;
		s->pieces[s->n_pieces].data = data;
	}
	while (s->n_helpers < n && !pthread_create(&s->helpers[s->n_helpers], NULL, help, s))
		s->n_helpers++;
	return s->n_helpers > 0; /* fewer are slower */
}

struct stream *stream_open(struct hfgguf_model *m, size_t file, uint64_t offset)
{
	struct stream *s = calloc(1, sizeof(*s));
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!s)
		return NULL;
	s->m = m;
	s->file = file;
	s->end = hfgguf_size(m, file);
	s->start = offset < s->end ? offset : s->end;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	if (start(s, cpus < 1 ? 1 : cpus > MAX_HELPERS ? MAX_HELPERS : (unsigned)cpus))
		return s;
	free_parts(s);
	return NULL;
}

ssize_t stream_next(struct stream *s, const void **data)
{
	struct piece *p;

	pthread_mutex_lock(&s->lock);
	if (s->held) {
		s->pieces[(s->to_use - 1) % s->n_pieces].full = false;
		s->held = false;
		pthread_cond_broadcast(&s->changed);
	}
	p = &s->pieces[s->to_use % s->n_pieces];
	while (!p->full)
		pthread_cond_wait(&s->changed, &s->lock);
	s->held = p->n > 0; /* the last piece stays: asking again tells the same */
	s->to_use += s->held;
	pthread_mutex_unlock(&s->lock);
	*data = p->data;
	return p->n;
}

const char *stream_error(const struct stream *s)
{
	const struct piece *p = &s->pieces[s->to_use % s->n_pieces];

	return p->msg[0] ? p->msg : hfgguf_strerror((int)p->n);
}

void stream_close(struct stream *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	for (unsigned i = 0; i < s->n_helpers; i++)
		pthread_join(s->helpers[i], NULL);
	free_parts(s);
}
