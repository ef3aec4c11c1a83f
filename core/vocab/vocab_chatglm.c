/* ChatGLMModel.set_vocab_chatglm3: the pieces of tokenizer.model, nine special tokens behind them, then padding. */
#include "core/util/cleanup.h"
#include "core/vocab/vocab_tokens.h"

#include <stdlib.h>
#include <string.h>

static const char *const specials[] = {
	"[MASK]", "[gMASK]", "[sMASK]", "sop", "eop", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>",
};

enum { N_SPECIAL = sizeof(specials) / sizeof(specials[0]) };

static bool is_piece(const struct spm_piece *p, struct spm_bytes text)
{
	return p->len == text.n && !memcmp(p->text, text.p, text.n);
}

/* The checkpoint's tokenizer gives no text to what the model uses as unknown, begin and end. */
static struct text text_of(struct vocab_in *in, const struct spm_model *m, size_t i)
{
	static const char *const first[] = { "<unk>", "<bos>", "<eos>" };
	const struct spm_piece *p = &m->pieces[i];

	if (i < sizeof(first) / sizeof(first[0]))
		return vocab_text_of(in->arena, first[i]);
	if (p->type == SPM_UNKNOWN || (p->type == SPM_CONTROL &&
				       (is_piece(p, m->trainer.bos_piece) || is_piece(p, m->trainer.eos_piece))))
		return vocab_text_of(in->arena, "");
	return (struct text){ arena_memdup(in->arena, p->text, p->len), p->len };
}

static int take(struct vocab_in *in, const struct spm_model *m, struct vocab_tokens *t, struct err *err)
{
	for (size_t i = 0; i < t->n; i++) {
		t->scores[i] = 0;
		t->types[i] = TOKEN_CONTROL;
		if (i < m->n) {
			t->text[i] = text_of(in, m, i);
			t->scores[i] = t->text[i].n ? m->pieces[i].score : 0;
			t->types[i] = vocab_spm_type(m->pieces[i].type);
		} else if (i < m->n + N_SPECIAL) {
			t->text[i] = vocab_text_of(in->arena, specials[i - m->n]);
		} else if (!vocab_pad(in->arena, t, i, i, 0)) {
			return err_nomem(err);
		}
		if (!t->text[i].p)
			return err_nomem(err);
	}
	return 0;
}

int vocab_chatglm3(struct vocab_in *in, struct err *err)
{
	struct spm_model m;
	autofree char *data = vocab_spm_open(in, &m, err);
	int64_t n = json_int_or(in->hparams, "padded_vocab_size", 0);
	struct special_vocab sv;
	struct vocab_tokens t;

	if (!data)
		return err->code;
	if (n > VOCAB_MAX_TOKENS || n < (int64_t)m.n + N_SPECIAL)
		err_set(err, HFGGUF_CORRUPT, "%s/config.json: padded_vocab_size is %lld, but tokenizer.model has %zu "
			"pieces and there are %d special tokens", in->dir, (long long)n, m.n, (int)N_SPECIAL);
	else if (!vocab_tokens_alloc(in->arena, &t, (size_t)n))
		err_nomem(err);
	else
		take(in, &m, &t, err);
	spm_free(&m);
	if (err->code)
		return err->code;
	vocab_emit(in, "llama", "chatglm-spm", &t, true);
	return special_load(in, false, t.n, &sv, err) ? err->code : special_emit(in, &sv, err);
}
