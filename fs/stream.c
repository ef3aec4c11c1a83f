#include "fs/stream.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define N_PIECES 2

struct piece {
	char *data;
	ssize_t n; /* bytes, 0 at the end, or a negative status */
	bool full;
};

struct stream {
	struct hfgguf_model *m;
	size_t file;
	uint64_t offset, end;
	pthread_t helper;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct piece piece[N_PIECES]; /* the lock guards `full` and `stop`; a piece belongs to one side at a time */
	unsigned next;                /* the caller's next piece */
	bool held, stop;              /* the caller holds the piece before `next` */
	char msg[2048];
};

/* A whole piece, or what is left of the file: a short count elsewhere would end the copy early and silently. */
static ssize_t fill(struct stream *s, char *data)
{
	size_t want = s->end - s->offset < STREAM_PIECE_BYTES ? (size_t)(s->end - s->offset) : STREAM_PIECE_BYTES;
	size_t done = 0;

	while (done < want) {
		ssize_t n = hfgguf_pread(s->m, s->file, data + done, want - done, s->offset, s->msg, sizeof(s->msg));

		if (n == 0) {
			snprintf(s->msg, sizeof(s->msg), "%s: ends at byte %llu of %llu", hfgguf_name(s->m, s->file),
				 (unsigned long long)s->offset, (unsigned long long)s->end);
			n = HFGGUF_IO;
		}
		if (n < 0)
			return n;
		done += (size_t)n;
		s->offset += (uint64_t)n;
	}
	return (ssize_t)done;
}

static void *help(void *arg)
{
	struct stream *s = arg;
	ssize_t n = 1;

	for (unsigned i = 0; n > 0; i = (i + 1) % N_PIECES) {
		struct piece *p = &s->piece[i];
		bool stop;

		pthread_mutex_lock(&s->lock);
		while (p->full && !s->stop)
			pthread_cond_wait(&s->changed, &s->lock);
		stop = s->stop;
		pthread_mutex_unlock(&s->lock);
		if (stop)
			break;
		n = p->n = fill(s, p->data);
		pthread_mutex_lock(&s->lock);
		p->full = true;
		pthread_cond_broadcast(&s->changed);
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}

static void free_parts(struct stream *s)
{
	for (unsigned i = 0; i < N_PIECES; i++)
		free(s->piece[i].data);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s);
}

struct stream *stream_open(struct hfgguf_model *m, size_t file, uint64_t offset)
{
	struct stream *s = calloc(1, sizeof(*s));
	bool good = true;

	if (!s)
		return NULL;
	s->m = m;
	s->file = file;
	s->offset = offset;
	s->end = hfgguf_size(m, file);
	if (s->offset > s->end)
		s->offset = s->end;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	for (unsigned i = 0; i < N_PIECES; i++) {
		void *data = NULL;

		good = good && !posix_memalign(&data, 4096, STREAM_PIECE_BYTES);
		s->piece[i].data = data;
	}
	if (good && !pthread_create(&s->helper, NULL, help, s))
		return s;
	free_parts(s);
	return NULL;
}

ssize_t stream_next(struct stream *s, const void **data)
{
	struct piece *p;

	pthread_mutex_lock(&s->lock);
	if (s->held) {
		s->piece[(s->next + N_PIECES - 1) % N_PIECES].full = false;
		pthread_cond_broadcast(&s->changed);
	}
	p = &s->piece[s->next];
	while (!p->full)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
	*data = p->data;
	s->held = p->n > 0; /* the last piece stays: asking again tells the same */
	if (s->held)
		s->next = (s->next + 1) % N_PIECES;
	return p->n;
}

const char *stream_error(const struct stream *s)
{
	const struct piece *p = &s->piece[s->next];

	return s->msg[0] ? s->msg : hfgguf_strerror(p->full ? (int)p->n : HFGGUF_IO);
}

void stream_close(struct stream *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->helper, NULL);
	free_parts(s);
}
