/* Slow tokenizers on a sentencepiece model: the pieces that a class puts around the model's, and its pipeline. */
#include "core/vocab/tok_slow.h"

#include "core/vocab/tok_charsmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "\xe2\x96\x81" /* U+2581 */

enum norm_style { NORM_STYLE_SPM, NORM_STYLE_ALBERT, NORM_STYLE_DEBERTA, NORM_STYLE_GEMMA, NORM_STYLE_LLAMA };

static const struct spm_rule {
	enum tok_convert convert;
	const char *head; /* pieces before the model's, with score 0 */
	size_t skip;	  /* how many of the model's own they replace */
	const char *tail; /* pieces behind them */
	int unk;	  /* id, or -1: the model's */
	enum norm_style norm;
	const char *post; /* template; NULL: none */
} rules[] = {
	{ CONVERT_LLAMA, NULL, 3, NULL, 0, NORM_STYLE_LLAMA, NULL },
	{ CONVERT_GEMMA, NULL, 3, NULL, 3, NORM_STYLE_GEMMA, NULL },
	{ CONVERT_T5, NULL, 0, NULL, -1, NORM_STYLE_SPM, "$A </s>" },
	{ CONVERT_XLMR, "<s> <pad> </s> <unk>", 3, "<mask>", 3, NORM_STYLE_SPM, "<s> $A </s>" },
	{ CONVERT_BARTHEZ, NULL, 0, NULL, 3, NORM_STYLE_SPM, "<s> $A </s>" },
	{ CONVERT_CAMEMBERT, "<s>NOTUSED <pad> </s>NOTUSED <unk> <unk>NOTUSED", 1, "<mask>", 3, NORM_STYLE_SPM,
	  "<s> $A </s>" },
	{ CONVERT_XLNET, NULL, 0, NULL, -1, NORM_STYLE_ALBERT, "$A <sep> <cls>" },
	{ CONVERT_ALBERT, NULL, 0, NULL, -1, NORM_STYLE_ALBERT, "[CLS] $A [SEP]" },
	{ CONVERT_DEBERTA_V2, NULL, 0, NULL, -1, NORM_STYLE_DEBERTA, "[CLS] $A [SEP]" },
	{ CONVERT_UDOP, NULL, 0, NULL, -1, NORM_STYLE_SPM, "$A </s>" },
	{ CONVERT_BIG_BIRD, NULL, 0, NULL, -1, NORM_STYLE_SPM, "[CLS] $A [SEP]" },
	{ CONVERT_SPM, NULL, 0, NULL, -1, NORM_STYLE_SPM, NULL },
};

static const struct spm_rule *find_rule(enum tok_convert convert)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].convert == convert)
			return &rules[i];
	return NULL;
}

static bool add_piece(struct slow_spm *s, struct tspan text, double score)
{
	struct slow_piece p = { text, score };

	return vec_push(&s->pieces, p) || (err_nomem(s->h->err), false);
}

static bool add_words(struct slow_spm *s, const char *words)
{
	for (const char *w = words; w && *w; w += strcspn(w, " "), w += *w == ' ') {
		size_t n = strcspn(w, " ");
		/* Camembert's own <unk> is to be taken instead of the model's. */
		double score = n == 12 && !memcmp(w, "<unk>NOTUSED", 12) ? -100 : 0;

		if (!add_piece(s, (struct tspan){ w, n }, score))
			return false;
	}
	return true;
}

/* The token that stands for an id of the slow tokenizer. */
static struct tspan slow_token(const struct slow_spm *s, int64_t id)
{
	for (size_t i = s->h->decoder.n; i-- > 0;)
		if (s->h->decoder.v[i].id == id)
			return s->h->decoder.v[i].token.text;
	if ((uint64_t)id < s->model.n)
		return (struct tspan){ s->model.pieces[id].text, s->model.pieces[id].len };
	return slow_text("");
}

static bool add_special(struct slow_spm *s, enum tok_special_name which)
{
	const struct tspan *text = &s->h->special[which].text;

	return add_piece(s, text->p ? *text : slow_text("None"), 0);
}

static bool add_head(struct slow_spm *s)
{
	bool ok = true;

	switch (s->rule->convert) {
	case CONVERT_LLAMA:
		for (int i = 0; ok && i < 3; i++)
			ok = add_piece(s, slow_token(s, i), 0);
		return ok;
	case CONVERT_GEMMA:
		return add_special(s, SPECIAL_PAD) && add_special(s, SPECIAL_EOS) && add_special(s, SPECIAL_BOS);
	default:
		return add_words(s, s->rule->head);
	}
}

static bool add_tail(struct slow_spm *s)
{
	int64_t extra = json_int_or(s->h->config, "extra_ids", 100);
	bool ok = add_words(s, s->rule->tail);

	if (s->rule->convert != CONVERT_T5)
		return ok;
	for (int64_t i = (extra < TOK_MAX_ID ? extra : TOK_MAX_ID) - 1; ok && i >= 0; i--) {
		char *text = arena_printf(s->h->t->mem, "<extra_id_%lld>", (long long)i);

		ok = text ? add_piece(s, slow_text(text), 0) : (err_nomem(s->h->err), false);
	}
	return ok;
}

/* XLNet and ALBERT make numbers with a comma behind them nearly impossible. */
static bool number_comma(const struct spm_piece *p)
{
	return p->len >= 2 && p->text[p->len - 1] == ',' && p->text[p->len - 2] >= '0' && p->text[p->len - 2] <= '9';
}

/* Older Gemma models lack the tab: its byte token becomes it. */
static void fix_tab(struct slow_spm *s)
{
	struct slow_piece *byte = NULL;

	for (size_t i = 0; i < s->pieces.n; i++) {
		struct slow_piece *p = &s->pieces.v[i];

		if (p->text.n == 1 && *p->text.p == '\t')
			return;
		if (!byte && p->text.n == 6 && !memcmp(p->text.p, "<0x09>", 6))
			byte = p;
	}
	if (byte)
		*byte = (struct slow_piece){ { "\t", 1 }, 0 };
}

static int collect_pieces(struct slow_spm *s)
{
	bool commas = s->rule->norm == NORM_STYLE_ALBERT;

	if (!add_head(s))
		return s->h->err->code;
	for (size_t i = s->rule->skip; i < s->model.n; i++) {
		const struct spm_piece *p = &s->model.pieces[i];
		double score = commas && number_comma(p) ? (double)p->score - 100 : (double)p->score;

		if (!utf8_valid(p->text, p->len))
			return err_set(s->h->err, HFGGUF_CORRUPT, "%s: piece %zu is not UTF-8", s->h->cls->vocab_file,
				       i);
		if (!add_piece(s, (struct tspan){ p->text, p->len }, score))
			return s->h->err->code;
	}
	if (!add_tail(s))
		return s->h->err->code;
	if (s->rule->convert == CONVERT_GEMMA)
		fix_tab(s);
	return 0;
}

static bool has_bytes(const struct slow_spm *s)
{
	return s->rule->convert == CONVERT_LLAMA || s->rule->convert == CONVERT_GEMMA;
}

static int build_unigram(struct slow_spm *s)
{
	struct tok_model *m = &s->h->t->model;
	int64_t unk = s->rule->unk >= 0 ? s->rule->unk : s->model.trainer.unk_id;

	m->kind = MODEL_UNIGRAM;
	m->byte_fallback = has_bytes(s);
	for (size_t i = 0; i < s->pieces.n; i++)
		if (tok_model_piece(s->h->t, s->pieces.v[i].text, s->pieces.v[i].score, s->h->err) < 0)
			return s->h->err->code;
	if (unk < 0 || unk >= m->n_token)
		return err_set(s->h->err, HFGGUF_CORRUPT, "%s: the unknown piece %lld does not exist",
			       s->h->cls->vocab_file, (long long)unk);
	m->unk_id = unk;
	return tok_model_finish(s->h->t, s->h->err);
}

static int build_bpe(struct slow_spm *s)
{
	struct tok_model *m = &s->h->t->model;
	const struct spm_bytes *unk = &s->model.trainer.unk_piece;

	m->kind = MODEL_BPE;
	m->fuse_unk = true;
	m->byte_fallback = has_bytes(s);
	m->unk = (struct tspan){ arena_memdup(s->h->t->mem, unk->p, unk->n), unk->n };
	if (!m->unk.p)
		return err_nomem(s->h->err);
	for (size_t i = 0; i < s->pieces.n; i++)
		if (tok_model_token(s->h->t, s->pieces.v[i].text, (double)i, s->h->err) < 0)
			return s->h->err->code;
	if (slow_spm_merges(s) < 0 || tok_model_merges(s->h->t, s->h->err) < 0)
		return s->h->err->code;
	return tok_model_finish(s->h->t, s->h->err);
}

/* Control and user-defined pieces are added tokens. */
static int add_symbols(struct slow_spm *s)
{
	for (size_t i = 0; i < s->model.n; i++) {
		const struct spm_piece *p = &s->model.pieces[i];
		struct added_token token = { .content = p->text, .len = p->len };

		if (p->type != SPM_CONTROL && p->type != SPM_USER_DEFINED)
			continue;
		token.special = p->type == SPM_CONTROL;
		if (s->rule->convert == CONVERT_GEMMA && ((p->len == 15 && !memcmp(p->text, "<start_of_turn>", 15)) ||
							  (p->len == 13 && !memcmp(p->text, "<end_of_turn>", 13))))
			token.special = true;
		if (tok_add_tokens(s->h->t, &token, 1, s->h->err) < 0)
			return s->h->err->code;
	}
	return 0;
}

static int add_charsmap(struct slow_spm *s, struct tok_node *seq)
{
	const struct spm_bytes *map = &s->model.normalizer.precompiled_charsmap;
	struct tok_node *n;

	if (!map->n)
		return 0;
	n = slow_add(seq, NORM_PRECOMPILED);
	n->map = charsmap_new(s->h->t->mem, map->p, map->n, s->h->err);
	return n->map ? 0 : s->h->err->code;
}

static int add_strip(struct slow_spm *s, struct tok_node *seq, bool left)
{
	struct tok_node *n = slow_add(seq, NORM_STRIP);

	(void)s;
	n->left = left;
	n->right = true;
	return 0;
}

static int norm_albert(struct slow_spm *s, struct tok_node *seq)
{
	struct hf *h = s->h;
	bool lower = hf_flag(h, "do_lower_case", strcmp(h->cls->name, "XLNet") && strcmp(h->cls->name, "FNet"));

	if (slow_replace(h, slow_add(seq, NORM_REPLACE), "``", true, "\"") < 0 ||
	    slow_replace(h, slow_add(seq, NORM_REPLACE), "''", true, "\"") < 0)
		return h->err->code;
	if (!hf_flag(h, "keep_accents", !strcmp(h->cls->name, "FNet"))) {
		slow_add(seq, NORM_NFKD);
		slow_add(seq, NORM_STRIP_ACCENTS);
	}
	if (lower)
		slow_add(seq, NORM_LOWERCASE);
	if (add_charsmap(s, seq) < 0)
		return h->err->code;
	return slow_replace(h, slow_add(seq, NORM_REPLACE), " {2,}", false, " ");
}

static int norm_llama(struct slow_spm *s, struct tok_node *seq)
{
	if (s->add_prefix_space)
		slow_add(seq, NORM_PREPEND)->text = slow_text(MARK);
	return slow_replace(s->h, slow_add(seq, NORM_REPLACE), " ", true, MARK);
}

static int build_normalizer(struct slow_spm *s)
{
	struct hf *h = s->h;
	struct tok_node *seq;

	if (s->rule->norm == NORM_STYLE_LLAMA && !s->legacy)
		return 0;
	seq = h->t->norm = slow_sequence(h, 8);
	if (!seq)
		return h->err->code;
	switch (s->rule->norm) {
	case NORM_STYLE_ALBERT:
		return norm_albert(s, seq);
	case NORM_STYLE_DEBERTA:
		if (hf_flag(h, "do_lower_case", false))
			slow_add(seq, NORM_LOWERCASE);
		if (add_strip(s, seq, true) < 0 || add_charsmap(s, seq) < 0)
			return h->err->code;
		return slow_replace(h, slow_add(seq, NORM_REPLACE), " {2,}", false, " ");
	case NORM_STYLE_GEMMA:
		return slow_replace(h, slow_add(seq, NORM_REPLACE), " ", true, MARK);
	case NORM_STYLE_LLAMA:
		return norm_llama(s, seq);
	default:
		if (add_charsmap(s, seq) < 0 || add_strip(s, seq, false) < 0)
			return h->err->code;
		return slow_replace(h, slow_add(seq, NORM_REPLACE), " {2,}", false, MARK);
	}
}

static void set_metaspace(const struct slow_spm *s, struct tok_node *n, bool split)
{
	n->text = slow_text(MARK);
	n->ch = 0x2581;
	n->split = split;
	n->prepend = !s->add_prefix_space ? PREPEND_NEVER : s->legacy ? PREPEND_ALWAYS : PREPEND_FIRST;
}

static int build_pre_tokenizer(struct slow_spm *s)
{
	struct hf *h = s->h;
	struct tok_node *seq;

	if (s->rule->convert == CONVERT_LLAMA && s->legacy)
		return 0;
	seq = h->t->pre = slow_sequence(h, 2);
	if (!seq)
		return h->err->code;
	if (s->rule->convert == CONVERT_GEMMA) {
		struct tok_node *n = slow_add(seq, PRE_SPLIT);

		n->behavior = SPLIT_MERGED_PREVIOUS;
		return slow_regex(h, n, " ", true);
	}
	if (s->rule->convert == CONVERT_DEBERTA_V2 && hf_flag(h, "split_by_punct", false))
		slow_add(seq, PRE_PUNCTUATION)->behavior = SPLIT_ISOLATED;
	set_metaspace(s, slow_add(seq, PRE_METASPACE), s->rule->convert != CONVERT_LLAMA);
	return 0;
}

static int build_decoder(struct slow_spm *s)
{
	struct hf *h = s->h;
	struct tok_node *seq = h->t->dec = slow_sequence(h, 4), *n;

	if (!seq)
		return h->err->code;
	if (!has_bytes(s)) {
		set_metaspace(s, slow_add(seq, DEC_METASPACE), true);
		return 0;
	}
	if (slow_replace(h, slow_add(seq, DEC_REPLACE), MARK, true, " ") < 0)
		return h->err->code;
	slow_add(seq, DEC_BYTE_FALLBACK);
	slow_add(seq, DEC_FUSE);
	if (s->rule->convert == CONVERT_GEMMA || !s->add_prefix_space)
		return 0;
	n = slow_add(seq, DEC_STRIP);
	n->text = slow_text(" ");
	n->ch = ' ';
	n->start = 1;
	return 0;
}

static int build(struct slow_spm *s)
{
	struct hf *h = s->h;
	int type = s->model.trainer.model_type;

	if (collect_pieces(s) < 0)
		return h->err->code;
	if (type != SPM_UNIGRAM && type != SPM_BPE)
		return err_set(h->err, HFGGUF_UNSUPPORTED, "%s is neither a unigram nor a BPE model",
			       h->cls->vocab_file);
	if (type == SPM_UNIGRAM ? build_unigram(s) < 0 : build_bpe(s) < 0)
		return h->err->code;
	if (add_symbols(s) < 0 || build_normalizer(s) < 0 || build_pre_tokenizer(s) < 0)
		return h->err->code;
	return build_decoder(s);
}

int slow_convert_spm(struct hf *h)
{
	struct slow_spm s = { .h = h, .rule = find_rule(h->cls->convert) };
	const json *legacy = json_get(h->config, "legacy"), *prefix = json_get(h->config, "add_prefix_space");
	/* The slow classes that have these attributes; CodeLlama's has not. Udop's takes null for false. */
	bool named = str_in(h->cls->name, "Llama T5 MT5 Udop");
	bool null_is_legacy = h->cls->convert != CONVERT_UDOP;
	size_t n;
	char *p = slow_file(h, h->cls->vocab_file, false, &n);

	if (!p || !s.rule)
		return h->err->code ? h->err->code
				    : err_set(h->err, HFGGUF_UNSUPPORTED, "%s cannot be converted", h->cls->name);
	if (spm_parse(p, n, &s.model, h->err) < 0) {
		err_prefix(h->err, "%s", h->cls->vocab_file);
		return h->err->code;
	}
	s.tab_for_byte = h->cls->convert == CONVERT_GEMMA;
	s.legacy = !named || !legacy || json_true(legacy) || (json_is_null(legacy) && null_is_legacy);
	s.add_prefix_space = !named || !prefix || json_true(prefix);
	build(&s);
	vec_free(&s.pieces);
	spm_free(&s.model);
	return h->err->code;
}

int slow_post_spm(struct hf *h)
{
	const struct spm_rule *rule = find_rule(h->cls->convert);
	const char *pieces[4], *w = rule ? rule->post : NULL;
	size_t count = 0;

	while (w && *w && count < 4) {
		size_t n = strcspn(w, " ");

		pieces[count] = arena_memdup(h->t->mem, w, n);
		if (!pieces[count++])
			return err_nomem(h->err);
		w += n + (w[n] == ' ');
	}
	return count ? hf_template(h, pieces, count, true) : 0;
}
