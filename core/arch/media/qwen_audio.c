/* The positions of Whisper-like encoders, which no file holds (conversion/qwenvl.py, SinusoidsPositionEmbedding). */
#include "core/arch/media/qwen.h"

#include <math.h>

enum { N_POSITIONS = 1500, MAX_TIMESCALE = 10000 };

struct sinusoids {
	uint64_t half; /* this many sines, then as many cosines */
	float step;    /* logarithm of the ratio of two neighbouring frequencies */
};

static int sinusoids_read(const struct tensor *t, uint64_t first, uint64_t n, void *out, struct tensor_ctx *ctx)
{
	const struct sinusoids *s = t->param;
	float *y = out;

	(void)ctx;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t position = (first + i) / (2 * s->half), column = (first + i) % (2 * s->half);
		bool cosine = column >= s->half;
		float exponent = s->step * (float)(cosine ? column - s->half : column);
		float angle = (float)position * (float)exp((double)exponent);

		y[i] = (float)(cosine ? cos((double)angle) : sin((double)angle));
	}
	return 0;
}

static const struct tensor_ops op_sinusoids = { "sinusoids", sinusoids_read, NULL };

int qwen_audio_positions(struct conv *c)
{
	struct sinusoids *s = arena_alloc(c->arena, sizeof(*s));
	const struct tensor *t;
	int64_t width;

	if (!s)
		return err_nomem(c->err);
	if (!json_int(json_get(c->audio, "hidden_size"), &width) || width < 4 || width > INT32_MAX)
		return conv_bad(c, "an audio encoder's width must be a number of 4 or more");
	s->half = (uint64_t)width / 2;
	s->step = (float)-(log(MAX_TIMESCALE) / (double)(s->half - 1));
	t = t_custom(&c->b, &op_sinusoids, DT_F32, 2, (uint64_t[]){ N_POSITIONS, 2 * s->half }, NULL, 0, s);
	return conv_item(c, "audio_tower.embed_positions.weight", t);
}
